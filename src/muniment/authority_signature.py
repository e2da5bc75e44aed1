"""Whether a commit is signed, and whether by an owner's key (C9).

git checks the signature, with the programs and keyring of this machine. Which keys are an owner's is
never taken from there, but from `owners`: an SSH public key, its `SHA256:…` fingerprint, or an OpenPGP
fingerprint. The one exception is an OpenPGP key that this person's own keyring fully trusts for the
owner's e-mail address.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from muniment.git.process import Git
from muniment.git.repo import Oid
from muniment.workspace import Workspace

_VALID = frozenset("GU")
"""git's words for a good signature: of a trusted key, of a key of unknown trust."""
_OPENPGP = re.compile(r"[0-9A-F]{16,64}\Z")
_SSH_KEY = re.compile(r"(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+\s+([A-Za-z0-9+/=]+)(?:\s|\Z)")
_FIELDS = 4


@dataclass(frozen=True, slots=True)
class Signed:
    """What git says of a commit's signature.

    Attributes:
        status: git's letter: `G` good, `U` good but of unknown trust, `N` none, `E` can't be checked,
            `B` bad, `X`, `Y`, `R` expired or revoked.
        fingerprints: Of the signing key and of its primary key, where git names them.
        signer: The name and address that the key belongs to on this machine.
        settle: What would make it checkable; may be empty.
    """

    status: str
    fingerprints: tuple[str, ...] = ()
    signer: str = ""
    settle: str = ""

    @property
    def fingerprint(self) -> str:
        """The primary key's fingerprint, as far as known."""
        return self.fingerprints[-1] if self.fingerprints else ""


def signature(ws: Workspace, commit: Oid) -> Signed:
    """Let git check a commit's signature; a repository's own list of allowed signers is not consulted."""
    ran = Git(ws.root, ws.environ).run(
        "log",
        "-1",
        "--no-show-signature",
        "--format=%G?%x00%GF%x00%GP%x00%GS",
        commit,
        options=("-c", f"gpg.ssh.allowedSignersFile={os.devnull}"),
    )
    parts = ran.out.decode("utf-8", "replace").rstrip("\n").split("\0")
    if ran.code or len(parts) != _FIELDS:
        return Signed("E", settle=f"git verify-commit {commit}")
    status, key, primary, signer = parts
    fingerprints = tuple(dict.fromkeys(name for name in (key, primary) if name))
    settle = f"Import the owner's public key, then: git verify-commit {commit.short}" if status == "E" else ""
    return Signed(status, fingerprints, signer, settle)


def signer_is_owner(signed: Signed, owners: Iterable[str], email: str) -> bool:
    """Whether a valid signature was made with an owner's key.

    Args:
        signed: From `signature`.
        owners: E-mails, keys and fingerprints.
        email: The author's address when it is an owner's; else empty.
    """
    if signed.status not in _VALID:
        return False
    found = {key_id(name) for name in signed.fingerprints} - {""}
    for owner in owners:
        wanted = key_id(owner)
        if wanted in found:
            return True
        if _OPENPGP.match(wanted) and any(name.endswith(wanted) for name in found if _OPENPGP.match(name)):
            return True
    trusted = signed.status == "G" and bool(email)
    return trusted and f"<{email.casefold()}>" in signed.signer.casefold()


def key_id(text: str) -> str:
    """A key in the form that is compared: `SHA256:…`, or upper-case hex; empty for anything else."""
    text = text.strip()
    if text.startswith("SHA256:"):
        return text.rstrip("=")
    key = _SSH_KEY.match(text)
    if key:
        try:
            blob = base64.b64decode(key[1], validate=True)
        except (ValueError, binascii.Error):
            return ""
        return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")
    hexadecimal = text.replace(" ", "").replace(":", "").upper().removeprefix("0X")
    return hexadecimal if _OPENPGP.match(hexadecimal) else ""
