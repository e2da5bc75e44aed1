"""The gate: only what is added, by both paths, allowed values by exact value, refusal whenever in doubt."""

from __future__ import annotations

import base64
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.redact import gate as module
from muniment.redact.exempt import Identities, parse_allow_list
from muniment.redact.gate import Cleared, ClearedText, Gate, GateRefused
from muniment.redact.names import KnownNames

PHONE = "052-" + "2345678"
OTHER = "+1 415-" + "555-0132"
MAIL = "rina@" + "example.com"
KNOWN = KnownNames.parse("Rina Abel\nRina\nOmer")
GATE = Gate(KNOWN)


def seen(new: str, old: str | None, gate: Gate = GATE) -> list[tuple[int, int, str]]:
    found = gate.inspect("docs/a.md", new.encode(), None if old is None else old.encode())
    return [(item.line, item.column, item.kind) for item in found]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (f"a\n b {PHONE}\n", None, [(2, 4, "phone")]),
        (f"a\n{PHONE}\nb\n", f"a\n{PHONE}\nb\n", []),
        (f"a\n{PHONE}\nb\nc\n", f"a\n{PHONE}\nb\n", []),
        (f"x\na\n{PHONE}\nb\n", f"a\n{PHONE}\nb\n", []),
        (f"a\n{PHONE}\nb\n{PHONE}\n", f"a\n{PHONE}\nb\n", [(4, 1, "phone")]),
        (f"{PHONE}\n{PHONE}\n", f"{PHONE}\n", [(2, 1, "phone")]),
        (f"- [x] {PHONE}\n", f"- [ ] {PHONE}\n", []),
        (f"- [x] {PHONE} {OTHER}\n", f"- [ ] {PHONE}\n", [(1, 19, "phone")]),
        (f"b\n{PHONE}\na\n", f"a\n{PHONE}\nb\n", []),
        (f"{PHONE}\n", f"{PHONE[:-1]}\n", [(1, 1, "phone")]),
        (f"{PHONE}\r\n", f"{PHONE}\n", []),
        ("Rina\nAbel\nb\n", "Rina\nb\nAbel\n", [(1, 1, "name")]),
        ("+972\n52 234 5678\n", "+972\n", [(1, 1, "phone")]),
        ("52 234 5678\n", "+972\n52 234 5678\n", []),
        ("", f"{PHONE}\n", []),
        ("no end", "no end\n", []),
        (f"{PHONE}", f"{PHONE}\n", []),
    ],
)
def test_gate__judges_what_is_added(new: str, old: str | None, expected: list[tuple[int, int, str]]) -> None:
    assert seen(new, old) == expected


LINES = st.lists(
    st.sampled_from(["a", "b", PHONE, f"x {PHONE} y", MAIL, "", "Rina", "+972", "52 234 5678"]), max_size=8
)


@given(LINES)
def test_gate__the_same_bytes_add_nothing(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert seen(text, text) == []


@given(LINES, LINES)
@settings(max_examples=200)
def test_gate__a_value_the_old_text_lacks_is_always_refused(new: list[str], old: list[str]) -> None:
    kept = [line for line in old if OTHER not in line]
    for place in range(len(new) + 1):
        text = "\n".join([*new[:place], f"call {OTHER} now", *new[place:]])
        assert "phone" in [kind for _, _, kind in seen(text, "\n".join(kept))]


@given(LINES, LINES)
def test_gate__nothing_is_refused_that_a_new_file_would_not_be(new: list[str], old: list[str]) -> None:
    text = "\n".join(new)
    fresh = {(line, kind) for line, _, kind in seen(text, None)}
    assert {(line, kind) for line, _, kind in seen(text, "\n".join(old))} <= fresh


def test_gate__a_large_file_with_a_small_change_is_judged_by_the_change() -> None:
    old = "".join(f"line {number} about nothing\n" for number in range(50_000))
    calls: list[int] = []

    class Counting(KnownNames):
        def find(self, view: object) -> object:  # type: ignore[override]
            calls.append(len(view.text))  # type: ignore[attr-defined]
            return iter(())

    gate = Gate(Counting())
    half = len(old) // 2
    assert (
        gate.inspect("a.md", (old[:half] + "\nadded\n" + old[half:] + "end\n").encode(), old.encode()) == ()
    )
    assert sum(calls) < 5_000


@pytest.mark.parametrize(
    "text",
    [
        "052-23<!-- -->45678 is it",
        "052-**2345**678 is it",
        "052-<b>2345678</b> is it",
        "call 052\n> 2345678 now",
        "MDUyLTIzNDU2Nzg=",
        "Ri<!-- -->na Abel ok",
        "R i n a  ok",
        "R\u0456na ok",
        "UmluYSBBYmVs",
        "nine seven two five two two three four five six seven eight",
    ],
)
def test_gate__sees_what_a_reader_would_put_together(text: str) -> None:
    assert seen(text, None) != []


@pytest.mark.parametrize("path", [f"docs/{PHONE}.md", "docs/rina-abel.md", f"notes/{MAIL}/x.md"])
def test_gate__a_path_is_judged_and_never_printed(path: str) -> None:
    with pytest.raises(GateRefused) as caught:
        GATE.clear(path, b"fine\n", None)
    shown = f"{caught.value.message} {caught.value.problems} {caught.value.gate_problems}"
    assert PHONE not in shown
    assert "rina-abel" not in shown
    assert MAIL not in shown


def test_gate__a_path_that_is_in_head_already_is_not_added() -> None:
    assert GATE.inspect(f"docs/{PHONE}.md", b"fine\n", b"old\n") == ()


def test_gate__never_prints_a_value() -> None:
    text = f"{PHONE} {MAIL} Rina Abel {OTHER}"
    with pytest.raises(GateRefused) as caught:
        GATE.clear_text(text)
    shown = f"{caught.value} {caught.value.message} {caught.value.hint} {caught.value.problems}"
    for value in (PHONE, MAIL, "Rina", OTHER):
        assert value not in shown
    assert [item.kind for item in caught.value.gate_problems] == ["phone", "email", "name", "phone"]
    assert caught.value.exit_code == 1


def test_gate__clears_as_a_type_that_nothing_else_makes() -> None:
    cleared = GATE.clear("docs/a.md", b"fine\n", None)
    assert (cleared.path, cleared.data) == ("docs/a.md", b"fine\n")
    assert GATE.clear_text("A fine message").text == "A fine message"
    with pytest.raises(TypeError):
        Cleared("a", b"x", object())
    with pytest.raises(TypeError):
        ClearedText("x", None)
    with pytest.raises(AttributeError):
        cleared.data = b"other"  # type: ignore[misc]


@pytest.mark.parametrize("data", [b"\xff", b"fine\nbad \xc3\x28", "x".encode("utf-16")])
def test_gate__an_undecodable_byte_refuses(data: bytes) -> None:
    assert [item.kind for item in GATE.inspect("a.md", data, None)] == ["undecodable"]


def test_gate__undecodable_names_its_place() -> None:
    (problem,) = GATE.inspect("a.md", b"fine\nbad \xff", None)
    assert (problem.line, problem.column) == (2, 5)


def test_gate__a_lone_surrogate_refuses() -> None:
    assert [item.kind for item in GATE.inspect_text("x \ud800 y")] == ["undecodable"]
    assert [item.kind for item in GATE.inspect("a\udcff.md", b"fine", None)] == ["error"]


def test_gate__an_exception_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise RuntimeError("a detector failed")

    monkeypatch.setattr(module, "detect", fail)
    assert [item.kind for item in GATE.inspect("a.md", b"fine", None)] == ["error"]
    assert [item.kind for item in GATE.inspect_text("fine")] == ["error"]


def test_gate__a_time_out_refuses() -> None:
    ticks = itertools.count(0, 1000)
    gate = Gate(KNOWN, clock=lambda: float(next(ticks)))
    assert [item.kind for item in gate.inspect("a.md", b"fine", b"")] == ["timeout"]
    assert [item.kind for item in gate.inspect_text("fine")] == ["timeout"]


# --- what may pass ----------------------------------------------------------------------------------

ALLOWED = Gate(KNOWN, parse_allow_list(f"# reviewed\n\n{MAIL}\n{OTHER}\nOmer\n"))


@pytest.mark.parametrize("text", [f"write {MAIL} today", f"({MAIL})", f"**{MAIL}**, {OTHER}", "Omer said"])
def test_allow_list__an_exact_value_passes_anywhere(text: str) -> None:
    assert seen(text, None, ALLOWED) == []


@pytest.mark.parametrize(
    "text",
    [
        f"x{MAIL}",
        f"{MAIL}.au",
        MAIL.upper(),
        f"{MAIL} and {PHONE}",
        "Rina",
        f"{OTHER} ext. 7",
        MAIL.replace("@", " at "),
    ],
)
def test_allow_list__nothing_but_the_exact_value(text: str) -> None:
    if text != MAIL.replace("@", " at "):
        assert seen(text, None, ALLOWED) != []


def test_allow_list__is_read_line_by_line() -> None:
    assert parse_allow_list("\ufeffa@b.co\r\n# no\n\n#1 tag\n") == {"a@b.co", "#1 tag"}


NAMED = Gate(KNOWN, identities=Identities(frozenset({"Rina", "omer"}), frozenset({("Rina Abel", MAIL)})))


@pytest.mark.parametrize(
    "text",
    [
        '{"actor":"Rina","at":"2024-01-01"}',
        '"by": "Rina"',
        "writer: Rina\n",
        "- by: 'Rina'\n",
        "actor: omer\r\n",
    ],
)
def test_identities__handles_pass_in_their_fields(text: str) -> None:
    assert seen(text, None, NAMED) == []
    assert seen(text, None, GATE) != []


@pytest.mark.parametrize(
    "text", ['{"title":"Rina"}', "by: Rina Abel", "owner: Rina", '"by": "Rina", "x": "Rina"']
)
def test_identities__handles_pass_nowhere_else(text: str) -> None:
    assert seen(text, None, NAMED) != []


def test_identities__git_identities_pass_in_trailers_of_messages_only() -> None:
    message = f"Fix it\n\nSigned-off-by: Rina Abel <{MAIL}>\nCo-authored-by: Rina Abel <{MAIL}>\n"
    assert NAMED.inspect_text(message) == ()
    assert NAMED.inspect_text(message, "branch name") != ()
    assert seen(message, None, NAMED) != []
    assert NAMED.inspect_text(f"Fix it\n\nSigned-off-by: Omer <{MAIL}>\n") != ()
    assert NAMED.inspect_text(f"Ask Rina Abel <{MAIL}>\n") != ()


def test_identities__history_is_read_only_for_a_trailer() -> None:
    reads: list[int] = []

    def history() -> frozenset[tuple[str, str]]:
        reads.append(1)
        return frozenset({("Omer", MAIL)})

    gate = Gate(KNOWN, identities=Identities(history=history))
    assert gate.inspect_text("No trailer here") == ()
    assert reads == []
    assert gate.inspect_text(f"x\n\nReviewed-by: Omer <{MAIL}>\n") == ()
    assert reads == [1]


@pytest.mark.parametrize(
    "text",
    [
        "+972522\\\n345678",
        "+972522<br>345678",
        "+972522<BR />\n> 345678",
        "+972522\r345678",
        base64.encodebytes(b"x" * 50 + b" +972522345678 " + b"y" * 60).decode(),
        base64.encodebytes(b"x" * 54 + b"dana@example.com " + b"y" * 60).decode().replace("\n", "\r\n"),
    ],
)
def test_gate__line_breaks_of_every_kind_hide_nothing(text: str) -> None:
    assert Gate().inspect("a.md", f"Call {text} now.\n".encode(), None)
