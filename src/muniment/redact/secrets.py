"""Secrets by their providers' documented formats; no entropy, so hashes and ids stay untouched (G12).

Each rule is a fact about a format its provider publishes (prefix, alphabet, length). A rule runs only when
its literal occurs in the text; every pattern runs in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from muniment.redact.spans import Span


@dataclass(frozen=True, slots=True)
class Format:
    """One documented format.

    Attributes:
        name: The provider or kind.
        prefixes: What the secret can start with, space-separated; empty when it has no fixed start.
        pattern: The whole secret.
    """

    name: str
    prefixes: str
    pattern: str


FORMATS = (
    Format("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    Format("github", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    Format(
        "gitlab",
        "glpat- gldt- glrt- glrtr- gloas- glsoat- glptt- glft- glimt- glagent- glcbt- glffct-",
        r"gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,255}",
    ),
    Format("gitlab-runner", "GR1348941", r"GR1348941[A-Za-z0-9_-]{20,50}"),
    Format("slack", "xox", r"xox[abcdeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,255}"),
    Format("slack-app", "xapp-", r"xapp-[0-9]-[A-Z0-9]{8,}-[0-9]+-[A-Za-z0-9]{20,}"),
    Format(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_+/-]{30,}",
    ),
    Format("aws-key-id", "AKIA ASIA ABIA ACCA A3T", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}"),
    Format("aws-bedrock", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    Format(
        "stripe",
        "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_",
        r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,255}",
    ),
    Format("stripe-webhook", "whsec_", r"whsec_[A-Za-z0-9+/]{32,}={0,2}"),
    Format("npm", "npm_", r"npm_[A-Za-z0-9]{36}"),
    Format("pypi", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    Format("openai", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
    Format("anthropic", "sk-ant-", r"sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{20,}"),
    Format("openrouter", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}"),
    Format("sk-key", "sk-", r"sk-[A-Za-z0-9]{32,64}"),
    Format("google-api", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    Format("google-oauth", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    Format("google-access", "ya29.", r"ya29\.[0-9A-Za-z_-]{20,}"),
    Format("google-refresh", "1//0", r"1//0[0-9A-Za-z_-]{40,}"),
    Format("sendgrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    Format("mailgun", "key-", r"key-[0-9a-f]{32}"),
    Format("brevo", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Format("twilio", "SK", r"SK[0-9a-f]{32}"),
    Format(
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{60,}",
    ),
    Format("digitalocean", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    Format("databricks", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    Format("shopify", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Format("square", "sq0atp- sq0csp- sq0idp-", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}"),
    Format("square", "EAAA", r"EAAA[A-Za-z0-9_-]{60}"),
    Format("huggingface", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{34}"),
    Format("vault", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    Format(
        "doppler",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"dp\.[a-z]{2,5}\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    Format("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    Format("notion", "ntn_", r"ntn_[A-Za-z0-9]{40,64}"),
    Format("notion", "secret_", r"secret_[A-Za-z0-9]{43}"),
    Format("postman", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Format("newrelic", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    Format("grafana", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    Format("grafana-cloud", "glc_", r"glc_[A-Za-z0-9+/]{32,}={0,2}"),
    Format("dynatrace", "dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Format("atlassian", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{50,}"),
    Format("bitbucket", "ATBB", r"ATBB[A-Za-z0-9]{24,64}"),
    Format("figma", "figd_", r"figd_[A-Za-z0-9_-]{38,}"),
    Format("airtable", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Format("supabase", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    Format("sentry", "sntryu_ sntrys_", r"sntry[us]_[A-Za-z0-9+/=_-]{40,}"),
    Format("planetscale", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    Format("pulumi", "pul-", r"pul-[0-9a-f]{40}"),
    Format("rubygems", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    Format("crates-io", "cio", r"cio[A-Za-z0-9]{32}"),
    Format("docker", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    Format("groq", "gsk_", r"gsk_[A-Za-z0-9]{52}"),
    Format("xai", "xai-", r"xai-[A-Za-z0-9]{80}"),
    Format("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{48}"),
    Format("replicate", "r8_", r"r8_[A-Za-z0-9]{37}"),
    Format("langsmith", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    Format("azure-storage", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{80,88}={0,2}"),
    Format("azure-sas", "SharedAccessKey=", r"SharedAccessKey=[A-Za-z0-9+/]{40,44}={0,2}"),
    Format("artifactory", "AKCp", r"AKCp[A-Za-z0-9]{60,72}"),
    Format("alibaba", "LTAI", r"LTAI[A-Za-z0-9]{17,21}"),
    Format("tencent", "AKID", r"AKID[A-Za-z0-9]{32}"),
    Format("facebook", "EAA", r"EAA[A-Z][A-Za-z0-9]{90,}"),
    Format("easypost", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    Format("flutterwave", "FLWSECK", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,32}(?:-X)?"),
    Format("shippo", "shippo_", r"shippo_(?:live|test)_[0-9a-fA-F]{40}"),
    Format("typeform", "tfp_", r"tfp_[A-Za-z0-9_.=-]{40,}"),
    Format("1password", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3}"),
    Format("1password", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    Format("prefect", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
    Format("readme", "rdme_", r"rdme_[a-z0-9]{70}"),
    Format("infracost", "ico-", r"ico-[A-Za-z0-9]{32}"),
    Format("sourcegraph", "sgp_", r"sgp_(?:[A-Za-z0-9]{16}_|local_)?[0-9a-f]{40}"),
    Format("openshift", "sha256~", r"sha256~[A-Za-z0-9_-]{43}"),
    Format("age", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Format("putty", "PuTTY-User-Key-File-", r"PuTTY-User-Key-File-[0-9]: [a-z0-9-]+"),
    Format("clojars", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    Format("flyio", "fo1_ fm1 fm2_", r"(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/_-]{80,}={0,3})"),
    Format("contentful", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{43}"),
    Format("netlify", "nfp_", r"nfp_[A-Za-z0-9]{36,40}"),
    Format("cloudflare-ca", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    Format("adafruit", "aio_", r"aio_[A-Za-z0-9]{28}"),
    Format("duffel", "duffel_", r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}"),
    Format(
        "plaid", "access-sandbox- access-development- access-production-", r"access-[a-z]{7,11}-[0-9a-f-]{36}"
    ),
    Format("tailscale", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    Format("jwt", "", r"eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{4,}){2,4}"),
    Format("telegram-bot", "", r"[0-9]{8,10}:[A-Za-z0-9_-]{35}"),
    Format("discord-bot", "", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
    Format("mailchimp", "", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    Format("terraform", "", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    Format("azure-client", "", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    Format("openai", "", r"sk-[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
)
"""Each provider's documented token format; `openai`'s last form is the older one with its fixed middle."""

_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"((?:[A-Za-z0-9+/=\s:,.>|-]|\\[nr]){1,20000})"
)
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_URL_LOGIN = re2.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'\"<>`]{0,100}:([^\s/@'\"<>`]{3,200})@[A-Za-z0-9\[]"
)
_AWS_SECRET = re2.compile(
    r"(?i)aws[a-z_ .-]{0,20}(?:secret|key)[a-z_ .-]{0,20}['\"]?[ \t]{0,3}(?:[:=]|=>)[ \t]{0,3}['\"]?"
    r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"
)
_AUTH_TOKEN = re2.compile(r":_(?:authToken|password|auth)[ \t]{0,3}=[ \t]{0,3}([A-Za-z0-9_+/=-]{16,})")
_STAND_IN = re.compile(
    r"(?i)[x*•.…_#-]+|<.*>|\$\{.*|\$[a-z_]+|\{.*\}|%[a-z(].*|\[.*\]"
    r"|(?:your|my|the|some|example|sample|dummy|fake|test|change|secret|pass|pwd|passwd|password|token|key|user"
    r"|username|here|me|redacted|hidden|removed|api|db|root|admin|postgres|guest|foo|bar|baz|123|[_ -])+"
)
_FEWEST_DISTINCT = 8


def find_secrets(text: str) -> Iterator[Span]:
    """Every secret of a known format in the text (not folded: case matters), in no particular order."""
    yield from _by_prefix(text)
    for rule in FORMATS:
        if not rule.prefixes:
            for match in _scanning(rule.pattern).finditer(text):
                yield from _judged(text, rule, *match.span())
    if "PRIVATE KEY" in text:
        yield from _key_blocks(text)
    if "://" in text and "@" in text:
        yield from _captured(text, _URL_LOGIN, "url-login")
    if "_auth" in text or ":_password" in text:
        yield from _captured(text, _AUTH_TOKEN, "npm-auth")
    if "aws" in text or "AWS" in text or "Aws" in text:
        yield from _captured(text, _AWS_SECRET, "aws-secret")


def _by_prefix(text: str) -> Iterator[Span]:
    automaton, rules = _prefixes()
    passed: dict[str, int] = {}
    for index, start, _ in automaton.find_matches_as_indexes(text, overlapping=True):
        if _inside_word(text, start):
            continue
        for rule in rules[index]:
            if start < passed.get(rule.pattern, 0):
                continue  # inside this rule's last match; matching again would make a flood quadratic
            match = _anchored(rule.pattern).match(text, start)
            if match:
                passed[rule.pattern] = match.end()
                yield from _judged(text, rule, start, match.end())


@cache
def _prefixes() -> tuple[Any, list[list[Format]]]:
    """The automaton over every prefix, and the formats of each."""
    import ahocorasick_rs  # noqa: PLC0415 - with the first text, not with the module

    rules: dict[str, list[Format]] = {}
    for rule in FORMATS:
        for prefix in rule.prefixes.split():
            rules.setdefault(prefix, []).append(rule)
    return ahocorasick_rs.AhoCorasick(list(rules)), list(rules.values())


@cache
def _anchored(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _scanning(pattern: str) -> Any:
    return re2.compile(pattern)


def _inside_word(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return before.isalnum() and before.isascii()


def _judged(text: str, rule: Format, start: int, end: int) -> Iterator[Span]:
    if _inside_word(text, start):
        return
    value = text[start:end]
    if not _is_stand_in(value) and _plausible(rule.name, value, text[end : end + 1]):
        yield Span(start, end, "secret", f"secret:{value}", rule.name)


def _plausible(name: str, value: str, following: str) -> bool:
    """What a fixed-length format needs beyond its pattern."""
    if name == "jwt":
        return _is_jwt(value)
    if following.isascii() and following.isalnum():
        return name not in _FIXED
    if name in {"slack", "sk-key", "google-refresh", "telegram-bot", "discord-bot"}:
        return any(map(str.isdigit, value)) and any(map(str.isalpha, value[4:]))
    if name == "aws-key-id":
        return "EXAMPLE" not in value
    return True


_FIXED = frozenset(
    {
        "aws-key-id",
        "telegram-bot",
        "twilio",
        "mailgun",
        "huggingface",
        "npm",
        "crates-io",
        "square",
        "airtable",
    }
    | {"databricks", "discord-bot", "google-api", "mailchimp", "alibaba", "sk-key", "tencent", "azure-client"}
)
"""Formats of one length: more of the same alphabet means that it is something else."""


def _is_jwt(value: str) -> bool:
    """Whether the first part decodes to a JSON object with an `alg`, as RFC 7515 demands of a header."""
    import base64  # noqa: PLC0415 - only a candidate needs it

    head = value.split(".", 1)[0]
    try:
        decoded = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:
        return False
    return b'"alg"' in decoded or b'"enc"' in decoded or b'"typ"' in decoded


def _is_stand_in(value: str) -> bool:
    """Whether this is a placeholder (`ghp_xxxx…`), not a value: too few different characters."""
    body = value[-20:] if len(value) > 24 else value[4:]  # noqa: PLR2004 - the prefix says nothing
    return len(set(body)) < _FEWEST_DISTINCT


def _key_blocks(text: str) -> Iterator[Span]:
    for match in _KEY_BLOCK.finditer(text):
        body = match.group(1)
        letters = sum(map(str.isalnum, body.partition("-----")[0][:400]))
        if letters < 40:  # noqa: PLR2004 - shorter than any key: prose about key files
            continue
        end = _KEY_END.search(text, match.start(1), match.end() + 60)
        stop = end.end() if end else match.start(1) + len(body.rstrip())
        yield Span(match.start(), stop, "secret", f"secret:{match.start()}:{body[:80]}", "private-key")


def _captured(text: str, pattern: Any, rule: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        value = match.group(1)
        if _STAND_IN.fullmatch(value) or (rule != "url-login" and len(set(value)) < _FEWEST_DISTINCT):
            continue
        start, end = match.span(1)
        yield Span(start, end, "secret", f"secret:{value}", rule)
