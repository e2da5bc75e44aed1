"""E-mail addresses, plain and written out, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.redact.rules import KnownNames
from muniment.redact.scrub import redact

NOBODY = KnownNames.empty()


@pytest.mark.parametrize(
    "address",
    [
        "rin.abe@example.com",
        "R@X.IO",
        "d'arcy@example.ie",
        "first_last+tag@my-host.example.museum",
        "דנה@דוגמה.ישראל",
        "user@xn--d1acufc.xn--p1ai",
        "rin.abe [at] example [dot] com",
        "rin.abe AT example DOT org",
        "rin.abe[@]example[.]net",
        "rin.abe&#64;example&period;com",
        "rin.abe%40example.com",
        "rin.abe\\@example.com",
        "rin\\_abe@example.com",
        "rin.abe\u200b@\u200bexample.com",
        "rin.abe＠example．com",  # noqa: RUF001 - full-width on purpose
    ],
)
def test_mail__is_replaced_whole(address: str) -> None:
    assert redact(f"write {address} today", NOBODY).text == "write [email-1] today"


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:acme/x.git and ssh://git@host.example/r",
        "pip install foo@1.2.3 and @scope/pkg@10.2.1",
        "actions/checkout@v4, uses: foo/bar@9f2c1ab7d03e4c55b8aa1234567890abcdef1234",
        "@dataclass\n@app.route('/x')",
        "icon@2x.png, getty@tty1.service",
        "user@host and `a@b`",
        "look at example.com, arrive at noon dot the i",
        "A @ B.T",
    ],
)
def test_mail__what_only_looks_like_one_is_untouched(text: str) -> None:
    assert redact(text, NOBODY).text == text


@given(
    st.from_regex(r"[a-z][a-z0-9._+-]{0,10}[a-z0-9]", fullmatch=True),
    st.from_regex(r"[a-z][a-z0-9-]{0,8}[a-z0-9]\.(com|org|dev|co\.il)", fullmatch=True),
)
def test_mail__case_does_not_make_two_people(local: str, domain: str) -> None:
    text = f"{local}@{domain} and {local.upper()}@{domain.upper()}"
    if local not in {"git", "hg", "svn"}:
        assert redact(text, NOBODY).text == "[email-1] and [email-1]"
