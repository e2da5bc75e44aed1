"""Secrets by their documented formats; every one is put together at run time, so that none lies here."""

from __future__ import annotations

import base64
import random
import string

import pytest

from muniment.redact.gate import Gate
from muniment.redact.rules import KnownNames, detect
from muniment.redact.scrub import redact

NOBODY = KnownNames.empty()
WORD = string.ascii_letters + string.digits
URLSAFE = WORD + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits

SHAPES: dict[str, tuple[tuple[str, str, int], ...]] = {
    "github": (("gh" + "p_", WORD, 36),),
    "github fine-grained": (("github_" + "pat_", WORD, 22), ("_", WORD, 59)),
    "gitlab": (("gl" + "pat-", URLSAFE, 20),),
    "slack": (("xo" + "xb-", string.digits, 12), ("-", string.digits, 12), ("-", WORD, 24)),
    "slack webhook": (("hooks.slack" + ".com/services/T", UPPER, 8), ("/B", UPPER, 8), ("/", WORD, 24)),
    "aws id": (("AK" + "IA", UPPER, 16),),
    "aws secret": (("aws_secret" + "_access_key = ", WORD + "/+", 40),),
    "stripe": (("sk_" + "live_", WORD, 24),),
    "npm": (("np" + "m_", WORD, 36),),
    "pypi": (("pypi-" + "AgEIcHlwaS5vcmc", URLSAFE, 70),),
    "openai": (("sk-" + "proj-", URLSAFE, 60),),
    "openai older": (("sk" + "-", WORD, 20), ("T3Blbk" + "FJ", WORD, 20)),
    "anthropic": (("sk-" + "ant-api03-", URLSAFE, 93),),
    "google": (("AI" + "za", URLSAFE, 35),),
    "telegram": (("", "123456789", 10), (":A" + "A", URLSAFE, 33)),
    "url": (("postgres" + "://svc:", WORD, 16), ("@db.internal/x", "", 0)),
    "sendgrid": (("S" + "G.", URLSAFE, 22), (".", URLSAFE, 43)),
    "huggingface": (("h" + "f_", WORD, 34),),
    "vault": (("hv" + "s.", URLSAFE, 90),),
    "digitalocean": (("dop" + "_v1_", HEX, 64),),
    "discord": (("M", WORD, 23), (".", URLSAFE, 6), (".", URLSAFE, 27)),
    "mailchimp": (("", HEX, 32), ("-u" + "s7", "", 0)),
}


def made(shape: str, seed: int) -> str:
    """A secret of a shape, from random characters (no real one)."""
    chance = random.Random(seed)
    return "".join(
        start + "".join(chance.choice(alphabet) for _ in range(length))
        for start, alphabet, length in SHAPES[shape]
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("host", ["{}", "token: {}", "`{}`", '"key": "{}",', "| a | {} |", "({})"])
def test_secrets__every_documented_shape(shape: str, host: str) -> None:
    for seed in range(5):
        text = host.replace("{}", made(shape, seed))
        assert [span.kind for span in detect(text, NOBODY)] == ["secret"], shape
        assert "[secret-1]" in redact(text, NOBODY).text
        assert Gate().inspect_text(redact(text, NOBODY).text, "text") == ()


@pytest.mark.parametrize("shape", ["github", "aws id", "stripe", "url"])
def test_secrets__hidden_ones_are_refused_by_the_gate(shape: str) -> None:
    secret = made(shape, 1)
    for text in (
        base64.b64encode(f"token={secret}".encode()).decode(),
        secret[:9] + "\u200b" + secret[9:],
        "".join(f"&#{ord(character)};" for character in secret),
    ):
        assert [item.kind for item in Gate().inspect_text(text, "text")] == ["secret"], shape


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH "])
@pytest.mark.parametrize("newline", ["\n", "\\n", "\r\n"])
def test_secrets__private_keys_with_a_body(kind: str, newline: str) -> None:
    chance = random.Random(7)
    body = newline.join("".join(chance.choice(WORD) for _ in range(64)) for _ in range(4))
    text = f"a\n-----BEGIN {kind}PRIVATE KEY-----{newline}{body}{newline}-----END {kind}PRIVATE KEY-----\nb"
    assert redact(text, NOBODY).text == "a\n[secret-1]\nb"


def test_secrets__a_json_web_token_needs_a_real_header() -> None:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    chance = random.Random(3)
    signature = "".join(chance.choice(URLSAFE) for _ in range(43))
    body = part('{"sub":"12345"}')
    real = ".".join((part('{"alg":"HS256"}'), body, signature))
    other = ".".join((part('{"version":3,"a":1}'), body, signature))
    assert redact(real, NOBODY).text == "[secret-1]"
    assert redact(other, NOBODY).text == other


@pytest.mark.parametrize(
    "text",
    [
        "export TOKEN=gh" + "p_" + "x" * 36,
        "commit 9f2c1ab7d03e4c55b8aa1234567890abcdef1234",
        "sha512-oRhUN9NbvHIVTzZ0HhMOS8F5Ij7RF9Tj9Xv8uH6gQ8B6uZ6Hk6uX0pC2yK7J8mZ5Tn3w4vB1a2c3d4e5f6g7hA==",
        "password: ${DB_PASSWORD}, token = os.environ['TOKEN']",
        "postgres://user:password@localhost/db and https://user:${TOKEN}@host/x",
        "-----BEGIN RSA PRIVATE" + " KEY----- starts such a file",
        "a task-based risk-adjusted disk-backed design",
        "AK" + "IAIOSFODNN7EXAMPLE",
    ],
)
def test_secrets__ordinary_text_and_placeholders_are_untouched(text: str) -> None:
    assert redact(text, NOBODY).text == text
    assert Gate().inspect_text(text, "text") == ()
