"""The shipped template is a plan of ours, and formatters leave it alone."""

from __future__ import annotations

import re
from pathlib import Path

import mdformat

from muniment.files import template_text
from muniment.plan.document import OURS, read_plan
from muniment.plan.reconcile import TEMPLATE

PAGE = Path(__file__).parent.parent.parent / "docs" / "formats" / "plan.md"


def filled() -> str:
    return template_text(TEMPLATE).replace("{{date}}", "2026-11-30").replace("{{state}}", "0" * 16)


def test_template__is_a_plan() -> None:
    plan, problems = read_plan(filled(), TEMPLATE)
    assert plan is not None, problems
    assert (plan.items.body.strip(), plan.notes.body.strip(), plan.items.digest) == ("", "", "")


def test_template__is_a_fixed_point_of_mdformat() -> None:
    assert mdformat.text(filled(), extensions={"frontmatter"}) == filled()


def test_page__names_the_keys_that_make_a_plan_ours() -> None:
    matter = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    assert all(f"{key}: {value}\n" in matter for key, value in OURS.items())
