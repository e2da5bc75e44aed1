"""Known names: loading a list, whole tokens in any script, ordinary words, roles and shared tags."""

from __future__ import annotations

import pytest

from muniment.errors import UsageProblem
from muniment.redact.rules import KnownNames
from muniment.redact.scrub import redact

KNOWN = KnownNames.parse(
    "Rina Abel\nRina\nרינה\nرنا الأسعد\nرنا\n李小龙\n김하늘\nสมหญิง\nअनीता\nWill\nMark\nBo\nJörg\nO'Hara\n"  # noqa: RUF001 - many scripts
    "Anne-Marie Dupont\nStraßer\n🚀 Zed\n~Yael\nx_falcon_x\n"
)


def hidden(text: str) -> str:
    return redact(text, KNOWN).text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Rina Abel approved", " approved"),
        ("RINA  ABEL approved", " approved"),
        ("rina.abel pushed", " pushed"),
        ("rinaabel/repo", "/repo"),
        ("Rina\nAbel ok", " ok"),
        ("Ri\u200bna ok", " ok"),
        ("_Rina_ ok", "__ ok"),
        ("| Rina | 3 |", "|  | 3 |"),
        ("לרינה יש", "ל יש"),
        ("וכשרינה באה", "וכש באה"),
        ("רִינָה כתבה", " כתבה"),
        ("لرنا", "ل"),
        ("قال رنا الأسعد نعم", "قال  نعم"),
        ("请李小龙看", "请看"),
        ("김하늘은", "은"),
        ("अनीता ने", " ने"),
        ("JÖRG ok", " ok"),
        ("O’Hara ok", " ok"),  # noqa: RUF001 - a curly apostrophe on purpose
        ("STRASSER ok", " ok"),
        ("Anne-Marie\nDupont ok", " ok"),
        ("Abel, Rina ok", " ok"),
        ("Will merged; ask Mark", " merged; ask "),
        ("@will merged", "@ merged"),
        ("author: Bo", "author: "),
        ("Yael: hi", ": hi"),
        ("x_falcon_x said", " said"),
        ("𝐑𝐢𝐧𝐚 ok", " ok"),  # noqa: RUF001 - mathematical letters on purpose
    ],
)
def test_names__are_found(text: str, left: str) -> None:
    import re  # noqa: PLC0415 - used once

    assert re.sub(r"\[name-\d+\]", "", hidden(text)) == left


@pytest.mark.parametrize(
    "text",
    [
        "marinated, Karina, Rinaldo, trinabel",
        "it will mark the benchmark; WILLING, Markdown, remarks",
        "boss, Bob, bo, BO",
        "הרינהים",
        "Marketplace, willpower",
        "김하늘색깔은".replace("하늘", "하느"),
    ],
)
def test_names__inside_other_words_are_not(text: str) -> None:
    assert hidden(text) == text


def test_names__a_role_becomes_the_tag_and_all_of_a_person_shares_it() -> None:
    known = KnownNames.parse("Rina Abel\towner\t+972 52 234 5678\tRina\trina@example.com\nOmer\tbot\n")
    text = "Rina Abel (052-2345678, 972522345678@s.whatsapp.net, rina@example.com) told Omer; Rina left."
    assert (
        redact(text, known).text
        == "[owner-1] ([owner-1], [owner-1], [owner-1]) told [bot-1]; [owner-1] left."
    )


@pytest.mark.parametrize("line", ["x", "李", "x\towner"])
def test_names__of_one_character_are_refused_at_load(line: str) -> None:
    with pytest.raises(UsageProblem, match="names:2:") as caught:
        KnownNames.parse(f"Rina\n{line}\n", "names")
    assert line.split("\t", maxsplit=1)[0] not in caught.value.message.replace("one character", "")[:8]


def test_names__an_unknown_role_is_refused() -> None:
    with pytest.raises(UsageProblem, match="owner, admin, member, bot"):
        KnownNames.parse("Rina\tboss\n")


def test_names__crlf_bom_and_blank_lines_are_fine() -> None:
    known = KnownNames.parse("\ufeffRina\r\n\r\nOmer\r\n")
    assert [name.text for name in known.names] == ["Rina", "Omer"]


def test_names__union_keeps_every_list() -> None:
    known = KnownNames.union([KnownNames.parse("Rina\towner"), KnownNames.empty(), KnownNames.parse("Omer")])
    assert redact("Rina, Omer", known).text == "[owner-1], [name-1]"
