r"""What a `git push --porcelain` answered, as one of few outcomes; pure.

Trust, in this order: git's own exit code; the machine line that git prints for our ref on stdout, whose flag and
bracketed word are its own and whose reason is the server's report for that ref; git's own stderr, only where
there is no such line. What a server or its hooks print arrives on stderr after `remote: `, and can turn nothing
into landed, and nothing that may have landed into a refusal.

Wording: git's `transport.c`, `send-pack.c`, `builtin/receive-pack.c`; `[rejected]` and its reasons are never
translated. Other lines are, so the phrases that count are listed in the languages that git ships most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """What became of a push."""

    LANDED = "landed"
    LOST_RACE = "lost-race"
    POLICY = "policy"
    PERMISSION = "permission"
    SERVER_LOCK = "server-lock"
    OFFLINE = "offline"
    UNKNOWN = "unknown"

    @property
    def definite(self) -> bool:
        """Whether the outcome is known; every definite one but `LANDED` means that nothing landed."""
        return self is not Outcome.UNKNOWN


@dataclass(frozen=True, slots=True)
class Report:
    """The machine line for one ref: its flag, git's word in brackets, and the reason in parentheses."""

    flag: str
    word: str
    reason: str


_LINE = re.compile(r"(?P<flag>[ +*=!-])\t(?P<source>[^\t:]*):(?P<ref>[^\t]*)\t(?P<rest>.*)")
_REST = re.compile(r"(?P<word>\[[^\]]*\]|[0-9a-f]+\.{2,3}[0-9a-f]+)(?: \((?P<reason>.*)\))?\s*\Z")
_LANDED = frozenset(" *+=")

_RACE = re.compile(
    r"is at [0-9a-f]+ but expected|but expected [0-9a-f]{7}|reference already exists|incorrect old value|"
    r"stale info|fetch first|failed to lock|failed to update ref|failed to write|lock failure|"
    r"unable to resolve reference|reference is missing but expected",
    re.IGNORECASE,
)
_NAME_TAKEN = re.compile(r"exists; cannot create|name conflict|directory not empty", re.IGNORECASE)
_LOCK_FILE = re.compile(r"\.lock\W+(?:: |: ?file exists|\s*$)|unable to create .*\.lock", re.IGNORECASE)
_POLICY = re.compile(
    r"declined|protected|prohibited|not permitted|not allowed|disallow|refus(?:e|ing)|denied by|deny|"
    r"non-fast.forward|checked out|no new changes|change-id|hook|rule|shallow|quota|too large|exceed|size limit|"
    r"unsigned|not signed|signature|signed-off|closed|read.only|archived|freez|frozen|invalid (?:author|committer)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"permission (?:to \S+ )?denied|access denied|unauthori[sz]ed|not authori[sz]ed|forbidden|"
    r"insufficient permission|authentication",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"internal|server error|time[d -]*out|unavailable|fail|error|exception|try again|abort|unpack|missing|unknown|"
    r"quarantine",
    re.IGNORECASE,
)
_CLIENT_RACE = frozenset(
    {
        "stale info",
        "fetch first",
        "non-fast-forward",
        "needs force",
        "already exists",
        "remote ref updated since checkout",
    }
)

_CUT_OFF = re.compile(
    r"hung up|early EOF|RPC failed|unexpected disconnect|disconnect while|Broken pipe|write error|read error|"
    r"remote helper|pack-objects died|index-pack|unpack|protocol error|bad line length|sideband|Everything up-to-date|"
    r"remote failure|failed to report|"
    # the same in the languages that git ships: … hung up, RPC failed, early EOF, and their like
    r"unerwartet abgebrochen|RPC fehlgeschlagen|frühes Dateiende|verfrühtes Dateiende|"
    r"fermé la connexion de manière|échec RPC|échec du RPC|fin de fichier prématurée|"
    r"se colgó de manera|RPC falló|EOF temprano|desligou inesperadamente|RPC falhou|EOF prematur[oa]|"
    r"chiuso inaspettatamente|RPC non riuscita|远端意外挂断|远程意外挂断|RPC 失败|過早的|过早的|遠端意外|RPC 失敗|"
    r"リモートエンドが|リモートが予期せず|RPC に失敗|RPC が失敗|неочакван|неожиданн|отключил|RPC не|"
    r"lade på oväntat|RPC misslyckades|nieoczekiwanie|RPC nie|beklenmedik|RPC başarısız|너무 빨리|예기치 않게|"
    r"bị treo bất ngờ|tidak terduga|RPC gagal|inesperadament|RPC ha fallat",
    re.IGNORECASE,
)
"""Signs that something had been sent: the outcome can't be told from this end. They outrank every other phrase."""

_REQUEST_REFUSED = re.compile(r"RPC[^\n]{0,40}HTTP (?P<status>40[134]|413)\b", re.IGNORECASE)
_STATUS = re.compile(r"(?:returned error: |HTTP )(?P<status>\d{3})\b", re.IGNORECASE)
_NO_ACCESS = re.compile(
    r"Authentication failed|Authentifizierung fehlgeschlagen|Échec d.authentification|Autenticación falló|"
    r"Falló la autenticación|Autenticazione non riuscita|Autenticação falh|身份验证失败|鉴权失败|身份驗證失敗|核對失敗|"
    r"認証に失敗|Autentisering misslyckades|Uwierzytelnienie nie|kimlik doğrulama|Xác thực gặp lỗi|"
    r"Ошибка аутентификации|publickey|Permission denied|Host key verification failed|Too many authentication|"
    r"could not read (?:Username|Password)|(?:Username|Password) for 'https?://|terminal prompts disabled|"
    r"Invalid username or (?:password|token)|access denied|insufficient permission|forbidden|"
    r"Repository not found|repository '.*' not found|repository .{1,200} not found|could not be found or you don't|"
    r"Permission to \S+ denied|don't have permission|not allowed to|deploy key|account .{0,40}suspended|"
    r"dubious ownership|repository not exported|Repository '.*' nicht gefunden|dépôt '.*' non trouvé|"
    r"仓库 '.*' 未找到|未找到仓库|版本庫.*找不到|リポジトリ.*見つかりません|repositorio '.*' no encontrado",
    re.IGNORECASE,
)
_UNREACHED = re.compile(
    r"Could not resolve|Couldn't resolve|not resolve host|Name or service not known|nodename nor servname|"
    r"Temporary failure in name|Connection (?:refused|timed out|reset|closed)|Operation timed out|No route to host|"
    r"(?:Network|Host) is (?:unreachable|down)|Failed to connect|Couldn't connect|unable to connect to|"
    r"unable to look up|Connection was reset|SSL|TLS|certificate|proxy|kex_exchange|ssh: connect|"
    r"(?:unable|failed) to access '|Could not read from remote repository|does not appear to be a git repository|"
    r"not a git repository|No such file or directory|hung up upon initial contact|invalid URL|"
    # … could not read from the remote repository, unable to access, unable to connect
    r"Konnte nicht vom Remote-Repository lesen|konnte nicht auf '.*' zugreifen|Konnte nicht nach|ersten Kontakt|"
    r"Impossible de lire le dépôt distant|impossible d.accéder|impossible de se connecter|"
    r"No se pudo leer del repositorio remoto|no es posible acceder|no es posible conectar|"
    r"Impossibile leggere dal repository remoto|impossibile accedere|impossibile collegarsi|"
    r"Incapaz de ler o repositório|incapaz (?:de )?aceder|não foi possível acessar|Não foi possível ler|"
    r"无法读取远程仓库|无法访问|无法连接|无法链接|無法讀取遠端|無法存取|無法連線|無法連接|"
    r"リモートリポジトリから読み|にアクセスできません|に接続できません|"
    r"Не удалось прочитать|недоступно|Не може да се чете|няма достъп|Kunde inte läsa från|kan inte komma åt|"
    r"Nie można czytać ze|brak dostępu|Uzak konum deposu okunamadı|erişilemiyor|읽을 수 없습니다|접근할 수 없|"
    r"Không thể đọc từ|không thể truy cập|Tidak dapat membaca|tidak dapat mengakses|No s'ha pogut",
    re.IGNORECASE,
)
_PUSH_FAILED = re.compile(
    r"^(?:error|fatal|Fehler|erreur\s?|エラー|错误|錯誤|ошибка|fel|błąd|hata|lỗi|errore|erro|오류|грешка|galat)[:：]",  # noqa: RUF001 - full-width, as in git's own Chinese
    re.IGNORECASE | re.MULTILINE,
)
_FATAL = re.compile(
    r"^(?:fatal|Schwerwiegend|致命的|致命错误|致命錯誤|критична|unrecoverable|严重|ölümcül|nghiêm trọng)[^\n:：]{0,20}[:：]",  # noqa: RUF001 - as above
    re.IGNORECASE | re.MULTILINE,
)


def classify(porcelain_out: str, err: str, code: int, ref: str) -> Outcome:
    """What became of a push of one ref.

    Args:
        porcelain_out: stdout of `git push --porcelain`; a pre-push hook may have printed there first.
        err: stderr, any language.
        code: git's exit code, negative when a signal ended it.
        ref: the full name of the ref on the remote, `refs/heads/…`.
    """
    if code < 0 or code > 128:  # noqa: PLR2004 - killed, or a shell's word for it
        return Outcome.UNKNOWN
    report = find_report(porcelain_out, ref)
    if report is not None and report.flag in _LANDED:
        return Outcome.LANDED if code == 0 else Outcome.UNKNOWN
    if report is not None:
        return _refused(report, err) if code else Outcome.UNKNOWN
    return _unreported(porcelain_out, err, code)


def find_report(porcelain_out: str, ref: str) -> Report | None:
    """The line for `ref` after the last `To …`; None when git printed none, or was cut off within it."""
    lines = porcelain_out.replace("\r\n", "\n").split("\n")[:-1]
    starts = [number for number, line in enumerate(lines) if line.startswith("To ")]
    if not starts:
        return None
    for line in lines[starts[-1] + 1 :]:
        match = _LINE.fullmatch(line)
        if match is not None and match["ref"] == ref:
            rest = _REST.match(match["rest"])
            word, reason = (rest["word"], rest["reason"] or "") if rest else ("", match["rest"])
            return Report(match["flag"], word, reason)
    return None


def explain(porcelain_out: str, err: str, ref: str) -> str:
    """What to show a person: the reason for `ref`, and what the server and git said (untrusted, unbounded)."""
    report = find_report(porcelain_out, ref)
    said = [line.removeprefix("remote:").strip() for line in _lines(err)]
    kept = [line for line in said if line and not line.startswith("hint:") and not _progress(line)]
    first = [f"{report.word} {report.reason}".strip()] if report and report.flag == "!" else []
    return "\n".join([*first, *dict.fromkeys(kept)])


def _lines(err: str) -> list[str]:
    return [part for line in err.split("\n") for part in line.split("\r")]


def _progress(line: str) -> bool:
    return (
        re.match(r"(?:Enumerating|Counting|Compressing|Writing|Resolving|Delta|Total)\b.*\d", line)
        is not None
    )


def _refused(report: Report, err: str) -> Outcome:
    """The class of a `!` line; only `[remote rejected]` carries words of the server's."""
    reason = report.reason.strip()
    if report.word == "[rejected]":
        return Outcome.LOST_RACE if reason in _CLIENT_RACE else _by_words(reason)
    if report.word != "[remote rejected]":
        return Outcome.UNKNOWN
    if reason == "unpacker error":
        return _unpacker(err)
    if _NAME_TAKEN.search(reason):
        return Outcome.POLICY
    if re.search(r"hook declined|non-fast.forward", reason, re.IGNORECASE):
        return Outcome.POLICY
    if _LOCK_FILE.search(reason):
        return Outcome.SERVER_LOCK
    if _RACE.search(reason):
        return _why_not_updated(reason, err)
    return _by_words(reason)


def _by_words(reason: str) -> Outcome:
    """A reason outside git's own list: refused for sure, unless it reads like a failure half-way."""
    if _DENIED.search(reason):
        return Outcome.PERMISSION
    if _POLICY.search(reason):
        return Outcome.POLICY
    return Outcome.UNKNOWN if _TROUBLE.search(reason) or not reason else Outcome.POLICY


def _why_not_updated(reason: str, err: str) -> Outcome:
    """git reports a lost race, a lock left behind and a hook of the ref store alike; its stderr says which.

    Nothing landed in any case, so a server that lies here gains nothing.
    """
    if re.search(r"but expected|already exists|old value|stale|fetch first", reason, re.IGNORECASE):
        return Outcome.LOST_RACE
    said = "\n".join(line for line in _lines(err) if "cannot lock ref" in line or "updates aborted" in line)
    if _NAME_TAKEN.search(said) or "aborted by hook" in said:
        return Outcome.POLICY
    if re.search(r"but expected|already exists", said):
        return Outcome.LOST_RACE
    if re.search(r"unable to create .*(?:permission denied|read-only)", said, re.IGNORECASE):
        return Outcome.PERMISSION
    return Outcome.SERVER_LOCK if _LOCK_FILE.search(said) else Outcome.LOST_RACE


def _unpacker(err: str) -> Outcome:
    """The server could not take the objects; no hook had run by then, so what it said is git's own."""
    if re.search(r"exceeds|too large|quota|size limit", err, re.IGNORECASE):
        return Outcome.POLICY
    if re.search(r"unable to create temporary|permission denied|insufficient permission", err, re.IGNORECASE):
        return Outcome.PERMISSION
    return Outcome.UNKNOWN


def _unreported(porcelain_out: str, err: str, code: int) -> Outcome:
    """No line for our ref: nothing landed only where git shows that it never began to send."""
    if code == 0 or any(line.startswith("To ") for line in porcelain_out.split("\n")):
        return Outcome.UNKNOWN
    own = "\n".join(line for line in _lines(err) if not line.startswith("remote:"))
    refused = _REQUEST_REFUSED.search(own)
    if refused is not None and len(set(_STATUS.findall(own))) == 1:
        return Outcome.POLICY if refused["status"] == "413" else Outcome.PERMISSION
    if _CUT_OFF.search(own.replace("hung up upon initial contact", "")):
        return Outcome.UNKNOWN
    if code == 1:
        declined = _PUSH_FAILED.search(own) and not _FATAL.search(own)
        return Outcome.POLICY if declined else Outcome.UNKNOWN
    statuses = frozenset(_STATUS.findall(own))
    if _NO_ACCESS.search(err) or (statuses and statuses <= {"401", "403", "404"}):
        return Outcome.PERMISSION
    return Outcome.OFFLINE if _UNREACHED.search(own) else Outcome.UNKNOWN


def connection_trouble(err: str) -> Outcome:
    """Why a read of the remote failed: `PERMISSION`, or `OFFLINE` for everything else."""
    own = "\n".join(line for line in _lines(err) if not line.startswith("remote:"))
    statuses = frozenset(_STATUS.findall(own))
    denied = _NO_ACCESS.search(err) or (statuses and statuses <= {"401", "403", "404"})
    return Outcome.PERMISSION if denied else Outcome.OFFLINE
