"""Phone numbers and WhatsApp ids: generated for every region, and written in every way we know of."""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.redact.gate import Gate
from muniment.redact.rules import KnownNames, detect
from muniment.redact.scrub import redact

NOBODY = KnownNames.empty()
FORMATS = phonenumbers.PhoneNumberFormat
HOSTS = (
    "{}",
    "| who | phone |\n|---|---|\n| ops | {} |\n",
    '{{"phone": "{}", "id": 42}}',
    "`{}`",
    "Ring {} about the build sheet (v2.14.0).",
    "\u05de\u05e1\u05e4\u05e8 {} \u05d1\u05d1\u05e7\u05e9\u05d4",
    "({})",
    "{}, {}",
    "<{}>",
    "{}: hello",
    "[10:15, 3/4/2024] {}: hello",
    "See [{}](https://example.org/rfc/9110).",
)


def left_over(text: str, number: str) -> bool:
    """Whether five digits in a row of the number survive, separators ignored."""
    digits = re.sub(r"\D", "", number)
    bare = re.sub(r"[\s().\-/~]+", "", re.sub(r"\[[a-z]+-\d+\]", "_", text))
    return any(digits[place : place + 5] in bare for place in range(len(digits) - 4))


def spellings(number: phonenumbers.PhoneNumber) -> Iterator[str]:
    international = phonenumbers.format_number(number, FORMATS.INTERNATIONAL)
    plain = phonenumbers.format_number(number, FORMATS.E164)
    yield from (plain, international, phonenumbers.format_number(number, FORMATS.RFC3966))
    yield international.replace(" ", ".").replace("-", ".")
    yield re.sub(r"^(\+\d+) (\d+)", r"\1 (\2)", international)
    yield international.replace("+", "00")
    yield f"https://wa.me/{plain[1:]}"
    yield f"{plain[1:]}@s.whatsapp.net"


@pytest.mark.parametrize("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_phones__every_region_in_every_form(region: str) -> None:
    for kind in (0, 1):  # fixed line, mobile
        number = phonenumbers.example_number_for_type(region, kind)
        for place, spelling in enumerate(spellings(number) if number else ()):
            for host in (HOSTS[0], HOSTS[(place + len(region + spelling)) % len(HOSTS)]):
                text = host.format(spelling, spelling)
                assert not left_over(redact(text, NOBODY).text, spelling), text


ISRAELI = st.builds(
    lambda area, rest: (area, f"{rest:07d}"),
    st.sampled_from(["02", "03", "04", "08", "09", "050", "052", "053", "054", "055", "058", "072", "077"]),
    st.integers(2_000_000, 9_999_999),
)


@given(ISRAELI, st.sampled_from(HOSTS))
@settings(max_examples=150)
def test_phones__israeli_national_forms_allocated_or_not(number: tuple[str, str], host: str) -> None:
    area, rest = number
    for spelling in (
        f"{area}-{rest}",
        f"{area} {rest}",
        f"({area}) {rest[:3]}-{rest[3:]}",
        f"{area}-{rest[:3]}-{rest[3:]}",
        f"{area} - {rest[:3]} - {rest[3:]}",
        f"{area}/{rest}",
        f"+972-{area[1:]}-{rest}",
        f"+972 (0){area[1:]} {rest[:3]} {rest[3:]}",
        f"00972-{area[1:]}-{rest}",
    ):
        text = host.format(spelling, spelling)
        assert not left_over(redact(text, NOBODY).text, spelling), text


FULL_WIDTH = str.maketrans("0123456789+-", "０１２３４５６７８９＋－")  # noqa: RUF001 - on purpose
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


@pytest.mark.parametrize("number", ["052-2345678", "+972 52 234 5678", "+14155550132"])
@pytest.mark.parametrize(
    "write",
    [
        lambda number: number.translate(FULL_WIDTH),
        lambda number: number.translate(ARABIC),
        "\u200b".join,
        lambda number: number.replace("2", "2\ufe0f\u20e3"),
        lambda number: number.replace("-", "\u2011").replace(" ", "\u00a0"),
        lambda number: "".join(f"&#{ord(character)};" for character in number),
        lambda number: "".join(f"%{ord(character):02X}" for character in number),
        lambda number: "".join(f"\\u{ord(character):04x}" for character in number),
        lambda number: number.replace("-", "\\-").replace("+", "\\+"),
        lambda number: f"\u2066{number}\u2069",
    ],
)
def test_phones__obfuscated(number: str, write: object) -> None:
    assert callable(write)
    text = f"before {write(number)} after"
    redacted = redact(text, NOBODY).text
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    assert "[phone-1]" in redacted


@pytest.mark.parametrize(
    "text",
    [
        "v1.2.3+20240301143200",
        "2024-03-01T10:15:22+02:00 and 1699999999.000100",
        "## 4.1.0) - 2023-04-06",
        "-0.96057636, 0.52234567",
        "123e4567-e89b-12d3-a456-426614174000",
        "+12,345,678 and +1234 -5678 lines",
        "CVE-2024-12345678, RFC 9110, ISBN 978-3-16-148410-0",
        "0123 4567 8901 2345 6789 0123",
        "| 100 | 200 | 300 | 400 | 500 |",
        "run 29159423173, line 1024-2048, port 8080",
        "x = 10+20*30 + 1000000",
        "<Buffer 01 02 03 04 05>",
        "10.0.0.1:8080 and 2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        "03/04/2024, 10:15:22",
    ],
)
def test_phones__ordinary_technical_text_is_untouched(text: str) -> None:
    assert redact(text, NOBODY).text == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("972522345678:7@s.whatsapp.net", "jid"),
        ("972522345678-1588888888@g.us", "group"),
        ("120363041234567890@g.us", "group"),
        ("123456789012345@lid", "lid"),
        ("972522345678%40s.whatsapp.net", "jid"),
        ("14155550132@c.us", "jid"),
    ],
)
def test_phones__whatsapp_ids_are_one_atom(text: str, kind: str) -> None:
    (span,) = detect(f"from {text} now", NOBODY)
    assert (span.kind, span.start, span.end) == (kind, 5, 5 + len(text))


def test_phones__a_jid_and_its_number_share_a_tag() -> None:
    text = "+972 52-234-5678, 052-2345678, 0522345678, 972522345678@s.whatsapp.net"
    assert set(re.findall(r"\[.*?\]", redact(text, NOBODY).text)) == {"[phone-1]"}


def test_phones__extension_and_trailing_groups_go_with_it() -> None:
    assert redact("+49 36878 620-23924 ext. 12 end", NOBODY).text == "[phone-1] end"


def test_phones__the_library_is_not_imported_without_a_candidate() -> None:
    import subprocess  # noqa: PLC0415 - a fresh interpreter is the point
    import sys  # noqa: PLC0415 - same

    script = (
        "import sys\nfrom muniment.redact.scrub import redact\nfrom muniment.redact.rules import KnownNames\n"
        "redact('plain text of 2024-01-01, version 1.2.3, a@b.com', KnownNames.empty())\n"
        "assert 'phonenumbers' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    "place", ["Boston, MA 02110-1301, USA.", "Boston, MA\n02110-1301 USA", "Newark, NJ, 07102-1234"]
)
def test_zip_codes__are_no_phone_numbers(place: str) -> None:
    assert not Gate().inspect("a.md", place.encode(), None)


@pytest.mark.parametrize("text", ["Reach me 02110-1301", "MA 02-110-1301", "MAMA 02110-1301", "MA 021101301"])
def test_zip_codes__that_they_are_is_seen_by_form_and_state(text: str) -> None:
    assert Gate().inspect("a.md", text.encode(), None)
