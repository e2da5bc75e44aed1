"""Who may decide (C9): by channel, by the upstream default branch, never by what a branch says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from muniment import authority
from muniment.authority_signature import Signed, key_id, signer_is_owner
from muniment.workspace import open_workspace
from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.triage import TRIAGE, Told, decide, intake

OWNER = "robin@example.org"
CONFIG = f"owners: [{OWNER}]\nactors: {{{OWNER}: robin-o}}\n"


@pytest.fixture
def team(repo: Repo, tmp_path: Path) -> Repo:
    """A clone whose upstream names Robin as the owner."""
    repo.write(".muniment/config.yaml", CONFIG)
    repo.commit("Settings")
    repo.bare_remote(tmp_path / "up.git")
    return repo


def preview(repo: Repo) -> Result:
    return muniment("apply", "--preview", "--json", cwd=repo.path)


def rows(result: Result) -> dict[str, str]:
    """Row → verified, for the rows that would be applied."""
    if result.code:
        assert result.json["error"]["code"] in {"all-refused", "nothing-approved"}, result.err
        return {}
    return {row["row"]: row["verified"] for row in result.json["rows"]}


def publish(repo: Repo, message: str = "Decide", branch: str = "main") -> None:
    repo.commit(message)
    repo.git("push", "-q", "origin", f"HEAD:{branch}")
    repo.git("fetch", "-q", "origin")


def as_stranger(repo: Repo) -> None:
    repo.git("config", "user.name", "Mallory")
    repo.git("config", "user.email", "mallory@example.org")


def test_file__on_the_upstream_default_branch_by_an_owner_counts(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    assert rows(preview(team)) == {}
    publish(team)
    shown = preview(team).ok().json
    assert rows(preview(team)) == {"1": "branch"}
    muniment("apply", "--confirm", shown["token"], cwd=team.path).ok()
    log = muniment("ledger", "log", "--kind", "decision", "--json", cwd=team.path).ok().json["entries"]
    assert log[0]["data"]["channel"] == "file"
    assert log[0]["data"]["verified"] == "branch"
    assert log[0]["data"]["by"] == "robin-o"


def test_file__counts_under_ci_too(team: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1"], channel="file")
    publish(team)
    decide(team, ["2"], channel="flag")
    monkeypatch.setenv("CI", "true")
    assert rows(preview(team)) == {"1": "branch"}


def test_file__by_another_author_is_claimed(team: Repo) -> None:
    intake(team, [Told("one")])
    as_stranger(team)
    decide(team, ["1"], channel="file")
    publish(team)
    found = preview(team)
    assert rows(found) == {}
    assert "no owner" in found.json["error"]["problems"][0]["message"]


def test_file__the_owners_e_mail_is_compared_without_case(team: Repo) -> None:
    intake(team, [Told("one")])
    team.git("config", "user.email", OWNER.upper())
    decide(team, ["1"], channel="file")
    publish(team)
    assert rows(preview(team)) == {"1": "branch"}


def test_fork__a_forged_author_on_a_branch_is_claimed(team: Repo) -> None:
    team.git("switch", "-q", "-c", "fork")
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team, branch="fork")
    found = preview(team)
    assert rows(found) == {}
    assert "not on origin/main" in found.json["error"]["problems"][0]["message"]


def test_fork__its_own_owners_count_for_nothing(team: Repo) -> None:
    team.git("switch", "-q", "-c", "fork")
    as_stranger(team)
    team.write(
        ".muniment/config.yaml",
        "owners: [mallory@example.org]\ndefault_branch: fork\nrequire_verified_approvals: false\n",
    )
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team, branch="fork")
    assert rows(preview(team)) == {}


@pytest.mark.parametrize(
    "line", ["- verified: terminal", "- channel: terminal", "- by: Robin Owner", "- verified: branch"]
)
def test_fork__authority_typed_into_the_file_counts_for_nothing(team: Repo, line: str) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    text = team.read(TRIAGE).decode()
    team.write(TRIAGE, text.replace("- by: Robin\n", f"- by: Robin\n{line}\n"))
    assert rows(preview(team)) == {}


def test_fork__changing_what_an_owner_approved_undoes_the_approval(team: Repo) -> None:
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1", "2"], channel="file")
    publish(team)
    team.git("switch", "-q", "-c", "fork")
    decide(team, ["1"], "reject", reason="so Mallory", channel="file")
    team.commit("Change")
    assert rows(preview(team)) == {"2": "branch"}


def test_file__an_approval_taken_back_upstream_no_longer_counts(team: Repo, tmp_path: Path) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team)
    other = Repo(tmp_path / "up.git").clone(tmp_path / "other")
    decide(other, ["1"], "", channel="file")
    other.commit("Take back")
    other.git("push", "-q")
    assert rows(preview(team)) == {"1": "branch"}
    team.git("fetch", "-q")
    assert rows(preview(team)) == {}


def test_file__another_change_of_the_file_by_a_stranger_takes_nothing_away(team: Repo) -> None:
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1"], channel="file")
    publish(team)
    as_stranger(team)
    decide(team, ["2"], channel="file")
    team.write(TRIAGE, b"Hello.\n\n" + team.read(TRIAGE))
    publish(team, "Mine too")
    assert rows(preview(team)) == {"1": "branch"}


def test_file__through_a_merge_by_a_stranger_the_author_counts(team: Repo) -> None:
    intake(team, [Told("one")])
    publish(team, "Rows")
    team.git("switch", "-q", "-c", "decide")
    decide(team, ["1"], channel="file")
    team.commit("Decide")
    as_stranger(team)
    team.git("switch", "-q", "main")
    team.git("merge", "-q", "--no-ff", "-m", "Merge", "decide")
    team.git("push", "-q", "origin", "main")
    assert rows(preview(team)) == {"1": "branch"}


def test_file__an_approval_taken_back_and_brought_back_by_a_merge_is_the_mergers(team: Repo) -> None:
    intake(team, [Told("one")])
    publish(team, "Take in")
    decide(team, ["1"], channel="file")
    publish(team)
    team.git("branch", "old")
    approved = team.read(TRIAGE)
    team.write(TRIAGE, approved.replace(b"- decision: approve", b"- decision:"))
    publish(team, "Take back")
    as_stranger(team)
    team.git("switch", "-q", "old")
    team.write("notes.md", "More\n")
    team.commit("More")
    team.git("switch", "-q", "main")
    team.git("merge", "-q", "--no-commit", "--no-ff", "old")
    team.write(TRIAGE, approved)
    publish(team, "Merge")
    assert rows(preview(team)) == {}


def test_file__a_merge_that_keeps_the_approval_of_one_side_takes_nothing_away(team: Repo) -> None:
    intake(team, [Told("one")])
    publish(team, "Take in")
    team.git("branch", "late")
    decide(team, ["1"], channel="file")
    publish(team)
    as_stranger(team)
    team.git("switch", "-q", "late")
    team.write("notes.md", "More\n")
    team.commit("More")
    team.git("merge", "-q", "--no-ff", "-m", "Merge", "main")
    publish(team, "Merge")
    assert rows(preview(team)) == {"1": "branch"}


def test_no_remote__a_file_is_claimed_and_a_flag_counts(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", CONFIG)
    repo.commit("Settings")
    intake(repo, [Told("one"), Told("two")])
    decide(repo, ["1"], channel="file")
    decide(repo, ["2"], channel="flag")
    repo.commit("Decide")
    found = preview(repo).ok()
    assert rows(found) == {"2": "none"}
    assert "no remote" in found.json["refused"][0]["reason"]
    assert found.json["refused"][0]["hint"]


def test_unknown_default_branch__says_how_to_settle_it(team: Repo) -> None:
    team.git("branch", "-m", "trunk")
    team.git("push", "-q", "origin", "trunk")
    team.git("update-ref", "-d", "refs/remotes/origin/main")
    team.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    rules = authority.rules(open_workspace(team.path))
    assert rules.ref is None
    assert "git remote set-head" in rules.settle


def test_shallow_clone__unknown_and_how_to_settle_it(team: Repo, tmp_path: Path) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team)
    team.write("README.md", "# Later\n")
    publish(team, "Later")
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{tmp_path / 'up.git'}", str(tmp_path / "shallow")],
        check=True,
    )
    shallow = Repo(tmp_path / "shallow")
    found = preview(shallow)
    assert rows(found) == {}
    assert "--unshallow" in found.json["error"]["hint"]
    shallow.git("fetch", "-q", "--unshallow")
    assert rows(preview(shallow)) == {"1": "branch"}


@pytest.mark.parametrize("value", ["true", "1", "yes", "woodpecker"])
def test_flag__never_under_ci(team: Repo, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], channel="flag")
    assert rows(preview(team)) == {"1": "none"}
    monkeypatch.setenv("CI", value)
    assert rows(preview(team)) == {}
    monkeypatch.setenv("CI", "false")
    assert rows(preview(team)) == {"1": "none"}


def test_flag__never_with_require_verified_approvals_upstream(team: Repo) -> None:
    team.write(".muniment/config.yaml", f"{CONFIG}require_verified_approvals: true\n")
    publish(team, "Stricter")
    team.git("switch", "-q", "-c", "fork")
    team.write(".muniment/config.yaml", f"{CONFIG}require_verified_approvals: false\n")
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1"], channel="flag")
    decide(team, ["2"], channel="terminal")
    team.commit("Weaker")
    assert rows(preview(team)) == {"2": "terminal"}


def test_flag__a_decision_changed_by_hand_afterwards_is_a_claim(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], "reject", reason="no", channel="terminal")
    assert rows(preview(team)) == {"1": "terminal"}
    team.write(TRIAGE, team.read(TRIAGE).replace(b"- reason: no", b"- reason: nope"))
    assert rows(preview(team)) == {}


def test_actor__is_a_name_and_no_authority(team: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_ACTOR", "Robin Owner")
    as_stranger(team)
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team)
    assert rows(preview(team)) == {}


@pytest.fixture
def key(tmp_path: Path) -> Path:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("signing needs ssh-keygen")
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "k", "-f", str(path)], check=True)
    return path


def sign_with(repo: Repo, key: Path) -> None:
    repo.git("config", "gpg.format", "ssh")
    repo.git("config", "user.signingkey", str(key))
    repo.git("config", "commit.gpgsign", "true")


@pytest.mark.parametrize("form", ["key", "fingerprint"])
def test_signature__by_an_owners_key_counts(team: Repo, key: Path, form: str) -> None:
    public = key.with_suffix(".pub").read_text().strip()
    owner = public if form == "key" else key_id(public)
    team.write(".muniment/config.yaml", f"owners: ['{owner}']\nrequire_signed_approvals: true\n")
    publish(team, "Keys")
    sign_with(team, key)
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team)
    assert rows(preview(team)) == {"1": "signature"}


def test_signature__required_and_missing_or_by_another_key(team: Repo, key: Path, tmp_path: Path) -> None:
    public = key.with_suffix(".pub").read_text().strip()
    team.write(".muniment/config.yaml", f"owners: ['{public}', {OWNER}]\nrequire_signed_approvals: true\n")
    publish(team, "Keys")
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1"], channel="file")
    publish(team, "Unsigned")
    found = preview(team)
    assert rows(found) == {}
    assert "not signed" in found.json["error"]["problems"][0]["message"]
    other = tmp_path / "other-key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "k", "-f", str(other)], check=True)
    sign_with(team, other)
    decide(team, ["2"], channel="file")
    publish(team, "Signed by another")
    assert rows(preview(team)) == {}


def test_signature__an_allowed_signers_file_in_the_branch_counts_for_nothing(team: Repo, key: Path) -> None:
    team.write(".muniment/config.yaml", f"{CONFIG}require_signed_approvals: true\n")
    team.write("allowed", f"{OWNER} {key.with_suffix('.pub').read_text()}")
    team.git("config", "gpg.ssh.allowedSignersFile", str(team.path / "allowed"))
    publish(team, "Settings")
    sign_with(team, key)
    intake(team, [Told("one")])
    decide(team, ["1"], channel="file")
    publish(team)
    assert rows(preview(team)) == {}


@pytest.mark.parametrize(
    ("signed", "owners", "email", "counts"),
    [
        (Signed("G", ("A" * 40,)), ["a" * 40], "", True),
        (Signed("U", ("C" * 40, "A" * 40)), ["AAAA " * 10], "", True),
        (Signed("U", ("B" * 24 + "A" * 16,)), ["0x" + "a" * 16], "", True),
        (Signed("B", ("A" * 40,)), ["A" * 40], "", False),
        (Signed("E", ("A" * 40,)), ["A" * 40], "", False),
        (Signed("X", ("A" * 40,)), ["A" * 40], "", False),
        (Signed("G", ("A" * 40,)), ["A" * 8], "", False),
        (Signed("G", ("A" * 40,), f"Robin <{OWNER}>"), [OWNER], OWNER, True),
        (Signed("U", ("A" * 40,), f"Robin <{OWNER}>"), [OWNER], OWNER, False),
        (Signed("G", ("A" * 40,), f"Robin <{OWNER}>"), [OWNER], "", False),
        (Signed("U", ("SHA256:abc",)), ["SHA256:abc"], "", True),
        (Signed("U", ("SHA256:abc",)), ["SHA256:abd"], "", False),
        (Signed("N"), [""], "", False),
    ],
)
def test_signer_is_owner(signed: Signed, owners: list[str], email: str, counts: bool) -> None:
    assert signer_is_owner(signed, owners, email) is counts


@pytest.mark.parametrize("name", ["GITHUB_ACTIONS", "TF_BUILD", "JENKINS_URL"])
def test_flag__never_in_a_build_service_that_sets_no_ci(
    team: Repo, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "True")
    assert authority.under_ci(open_workspace(team.path))
