"""The words by which push answers are told apart, in the languages that git ships most; pure data.

Server-side reasons (git's `receive-pack.c` and `refs/`, hosting services) are English. What the local git
prints is translated; libcurl's and ssh's own words are not. The translations are those of git's catalogues.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re
from functools import cached_property


class Phrases:
    """Any of some phrases, in either case; compiled on first use, since most pushes land and need none."""

    def __init__(self, *phrases: str) -> None:
        self._phrases = phrases

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile("|".join(self._phrases), re.IGNORECASE | re.MULTILINE)

    def search(self, text: str) -> re.Match[str] | None:
        """Where one of them stands first, or None."""
        return self._compiled.search(text)


RACE = Phrases(
    r"is at [0-9a-f]+ but expected",
    r"but expected [0-9a-f]{7}",
    r"reference already exists",
    r"incorrect old value",
    r"stale info|fetch first",
    r"failed to (?:lock|update ref|write)",
    r"lock[ _]failure",
    r"unable to resolve reference",
    r"reference is missing but expected",
)
"""A reason for `[remote rejected]` that means: the ref wasn't what we expected, or was held."""

NAME_TAKEN = Phrases(r"exists; cannot create", r"name conflict", r"directory not empty")
LOCK_FILE = Phrases(r"unable to create .*\.lock", r"\.lock\W+file exists", r"\.lock\W*$")

POLICY = Phrases(
    r"declined|protected|prohibited|not permitted|not allowed|disallow|refus(?:e|ing)|denied by|deny",
    r"non-fast.forward|checked out|no new changes|change-id|hook|rule|shallow",
    r"quota|too large|exceed|size limit",
    r"unsigned|not signed|signature|signed-off|invalid (?:author|committer)",
    r"closed|read.only|archived|freez|frozen",
)
DENIED = Phrases(
    r"permission (?:to \S+ )?denied|access denied|unauthori[sz]ed|not authori[sz]ed|forbidden",
    r"insufficient permission|authentication",
)
TROUBLE = Phrases(
    r"internal|server error|time[d -]*out|unavailable|fail|error|exception|try again|abort|unpack",
    r"missing|unknown|quarantine",
)
"""A server's reason that reads like a failure half-way rather than a refusal."""

CUT_OFF = Phrases(
    r"hung up|early EOF|RPC failed|disconnect while|unexpected disconnect|Broken pipe|write error|read error",
    r"remote helper|pack-objects died|index-pack|unpack|protocol error|bad line length|sideband",
    r"Everything up-to-date|remote failure|failed to report",
    r"unerwartet abgebrochen|RPC fehlgeschlagen|(?:ver)?frühes Dateiende",
    r"fermé la connexion de manière|échec (?:du )?RPC|fin de fichier prématurée",
    r"se colgó de manera|RPC falló|EOF temprano",
    r"desligou inesperadamente|RPC falhou|EOF prematur[oa]",
    r"chiuso inaspettatamente|RPC non riuscita",
    r"远端意外挂断|远程意外挂断|RPC 失败|过早的",
    r"遠端意外|RPC 失敗|過早的",
    r"リモートエンドが|リモートが予期せず|RPC [にが]失敗",
    r"неочакван|неожиданн|отключил|RPC не|отдалечено извикване",
    r"lade på oväntat|RPC misslyckades|tidigt filslut",
    r"nieoczekiwanie|RPC nie|przedwczesny",
    r"beklenmedik|RPC başarısız|erken dosya",
    r"너무 빨리|예기치 않게",
    r"bị treo bất ngờ|EOF quá sớm",
    r"tidak terduga|RPC gagal|EOF awal",
    r"inesperadament|RPC ha fallat",
)
"""Signs that something may have been sent: the outcome can't be told from here. They outrank all others."""

NO_ACCESS = Phrases(
    r"Permission denied|publickey|Host key verification failed|Too many authentication",
    r"could not read (?:Username|Password)|(?:Username|Password) for 'https?://|terminal prompts disabled",
    r"Invalid username or (?:password|token)|access denied|insufficient permission|forbidden",
    r"Repository not found|repository .{1,200} not found|could not be found or you don't",
    r"Permission to \S+ denied|don't have permission|not allowed to|deploy key|account .{0,40}suspended",
    r"dubious ownership|repository not exported",
    r"Authentication failed|Authentifizierung fehlgeschlagen|Échec d.authentification",
    r"Autenticación falló|Falló la autenticación|Autenticazione non riuscita|Autenticação falh",
    r"身份验证失败|鉴权失败|身份驗證失敗|核對失敗|認証に失敗|Autentisering misslyckades",
    r"Uwierzytelnienie nie|kimlik doğrulama|Xác thực gặp lỗi|Ошибка аутентификации",
    r"Неуспешна идентификация|error en autenticar|Autentikasi gagal",
    r"Repository '.*' nicht gefunden|dépôt '.*' non trouvé|repositorio '.*' no encontrado",
    r"仓库 '.*' 未找到|未找到仓库|版本庫.*找不到|リポジトリ.*見つかりません",
)

UNREACHED = Phrases(
    r"(?:Could not|Couldn't|not) resolve|Name or service not known|nodename nor servname",
    r"Temporary failure in name|Connection (?:refused|timed out|reset|closed)|Operation timed out",
    r"No route to host|(?:Network|Host) is (?:unreachable|down)|Failed to connect|Couldn't connect",
    r"unable to connect to|unable to look up|Connection was reset|SSL|TLS|certificate|proxy",
    r"kex_exchange|ssh: connect|(?:unable|failed) to access '|Could not read from remote repository",
    r"does not appear to be a git repository|not a git repository|No such file or directory",
    r"hung up upon initial contact|invalid URL|transport '.*' not allowed|returned error: 5\d\d",
    r"Konnte nicht vom Remote-Repository lesen|konnte nicht auf '.*' zugreifen|Konnte nicht nach",
    r"ersten Kontakt|Impossible de lire le dépôt distant|impossible d.accéder|impossible de se connecter",
    r"No se pudo leer del repositorio remoto|no es posible acceder|no es posible conectar",
    r"Impossibile leggere dal repository remoto|impossibile accedere|impossibile collegarsi",
    r"Incapaz de ler o repositório|incapaz (?:de )?aceder|não foi possível (?:acessar|ler)",
    r"无法读取远程仓库|无法访问|无法连接|无法链接|無法讀取遠端|無法存取|無法連線|無法連接",
    r"リモートリポジトリから読み|にアクセスできません|に接続できません",
    r"Не удалось прочитать|недоступно|Не може да се чете|няма достъп",
    r"Kunde inte läsa från|kan inte komma åt|Nie można czytać ze|brak dostępu",
    r"Uzak konum deposu okunamadı|erişilemiyor|읽을 수 없습니다|접근할 수 없",
    r"Không thể đọc từ|không thể truy cập|Tidak dapat membaca|tidak dapat mengakses|No s'ha pogut",
)

OWN_ERROR = Phrases(
    r"^(?:error|Fehler|erreur|エラー|错误|錯誤|ошибка|fel|błąd|hata|lỗi|errore|erro|오류|грешка|galat|kesalahan)"
    r"\s?[:：]",
)
FATAL = Phrases(
    r"^(?:fatal|Schwerwiegend|致命的|致命错误|致命錯誤|критична|严重|ölümcül|nghiêm trọng)"
    r"[^\n:：]{0,20}[:：]",
)
