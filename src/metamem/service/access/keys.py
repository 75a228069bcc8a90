"""API keys: `mm_<id>_<secret>`. The secret is shown once, when the key is made, and kept nowhere.

Only a hash of the secret is on the disk. Secrets are 256 random bits, so a plain SHA-256 cannot be
searched backwards. All keys that open nothing get the same answer after the same work.
"""

import hashlib
import hmac
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metamem.core.access import Caller, Scope
from metamem.core.errors import BadKey, UnknownName, UsageError
from metamem.core.ids import canonical_json
from metamem.service.access import people
from metamem.service.access.rights import KEY_RIGHTS, resolved
from metamem.service.database import Database, now_ms
from metamem.service.writing.fields import Fields
from metamem.store.engine import Execute
from metamem.store.sql.base import insert, one_of

PER_MINUTE = 600
FRESH_SECONDS = 1.0  # that a caller is believed for without asking the database again
MOST_CACHED = 1000
USED_MS = 600_000  # between two notes that a key was used
OVERLAP_MS = 24 * 3600 * 1000
_FORM = re.compile(r"mm_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_NOTHING = hashlib.sha256(b"").digest()
_COLUMNS = (
    "k.id, p.name, k.label, k.rights, k.scopes, k.per_minute, k.most_facts, k.facts, k.made_at,"
    " k.expires_at, k.revoked_at, k.last_used_at, COALESCE(k.replaces, '')"
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key as lists show it: never its secret."""

    id: str
    who: str
    label: str
    rights: tuple[str, ...]
    scopes: tuple[str, ...]  # empty: all that its holder may use
    per_minute: int  # requests; 0 for any number
    most_facts: int | None
    facts: int  # written with it, and with the keys that it replaced
    made_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None
    replaces: str


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key and its secret, which nobody will be told again."""

    key: Key
    secret: str

    def __repr__(self) -> str:
        return f"NewKey({self.key.id})"  # so that no log has it by accident


def make(
    execute: Execute,
    tenant: str,
    who: str,
    *,
    label: str = "",
    rights: Sequence[str] = ("read", "write"),
    scopes: Sequence[str] = (),
    per_minute: int = PER_MINUTE,
    most_facts: int | None = None,
    expires_at: int | None = None,
    replaces: Key | None = None,
) -> NewKey:
    """A key for somebody of the tenant."""
    holder = people.find(execute, tenant, who)
    if holder.kind == "team":
        raise UsageError(f"{who} is a team: keys are for persons and agents")
    for right in rights:
        one_of(right, KEY_RIGHTS, "right of a key")
    if not rights:
        raise UsageError("a key without rights opens nothing", hint="read, write, manage")
    for scope in map(Scope.parse, scopes):
        if scope.tenant != tenant:
            raise UsageError(f"{scope} is not a scope of {tenant}")
    if per_minute < 0 or (most_facts is not None and most_facts < 0):
        raise UsageError("limits cannot be below zero")
    now = now_ms()
    if expires_at is not None and expires_at <= now and replaces is None:
        raise UsageError("a key that has expired opens nothing", hint="say a time to come")
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    insert(
        execute,
        "api_keys",
        {
            "id": key_id,
            "principal": holder.number,
            "hash": _hash(secret),
            "label": Fields().line(label, 200),
            "rights": canonical_json([r for r in KEY_RIGHTS if r in rights]),
            "scopes": canonical_json(sorted(set(scopes))),
            "per_minute": per_minute,
            "most_facts": most_facts,
            "facts": replaces.facts if replaces else 0,
            "made_at": now,
            "expires_at": expires_at,
            "replaces": replaces.id if replaces else None,
        },
    )
    return NewKey(find(execute, tenant, key_id), f"mm_{key_id}_{secret}")


def find(execute: Execute, tenant: str, key_id: str) -> Key:
    for key in _keys(execute, "p.tenant = ? AND k.id = ?", tenant, key_id):
        return key
    raise UnknownName(f"there is no key {key_id!r}", hint="`metamem keys` lists yours")


def listed(execute: Execute, tenant: str, who: str = "") -> list[Key]:
    """The keys of one principal, or of all of a tenant."""
    if who:
        return _keys(execute, "p.tenant = ? AND p.name = ?", tenant, who)
    return _keys(execute, "p.tenant = ?", tenant)


def rotate(execute: Execute, tenant: str, key_id: str, *, overlap_ms: int = OVERLAP_MS) -> NewKey:
    """A key in the place of another, which stays valid for a while, so that nobody is locked out.
    The new one ends when the old one would have: nobody lives longer by that."""
    if overlap_ms < 0:
        raise UsageError("the old key cannot end before now")
    old, now = find(execute, tenant, key_id), now_ms()
    if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= now):
        raise UsageError(f"the key {key_id} is not valid any more", hint="make a new one")
    made = make(
        execute,
        tenant,
        old.who,
        label=old.label,
        rights=old.rights,
        scopes=old.scopes,
        per_minute=old.per_minute,
        most_facts=old.most_facts,
        expires_at=old.expires_at,
        replaces=old,
    )
    end = now + overlap_ms if old.expires_at is None else min(old.expires_at, now + overlap_ms)
    execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", (end, key_id))
    return made


def revoke(execute: Execute, tenant: str, key_id: str) -> Key:
    """End a key now. Revoking it again changes nothing."""
    find(execute, tenant, key_id)
    execute(
        "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
        (now_ms(), key_id),
    )
    return find(execute, tenant, key_id)


@dataclass(frozen=True, slots=True)
class _Known:
    caller: Caller
    per_minute: int
    until: float  # on the monotonic clock


class Doorkeeper:
    """Checks keys. A caller is believed for a second, so that the revocation of a key, or of a
    right, holds at once where it was made in this process, and after that second in others."""

    def __init__(
        self,
        database: Database,
        used: Callable[[str, int], None],
        refused: Callable[[str, str, str], None],
    ) -> None:
        """`used` is told of the use of a key now and then, `refused` of the tenant, the holder and
        the id of a key that is known and does not open."""
        self._database = database
        self._used, self._refused = used, refused
        self._lock = threading.Lock()
        self._known: dict[bytes, _Known] = {}  # by hashes: no secret is kept
        self._per_minute: dict[str, int] = {}  # by the ids of keys
        self._changes = 0

    def authenticate(self, secret: str) -> Caller:
        """Who a key stands for, with all rights that it has now. `BadKey` where it has none."""
        form = _FORM.fullmatch(secret)
        key_id, random = form.groups() if form else ("", "")
        given = _hash(secret)
        with self._lock:
            known, changes = self._known.get(given), self._changes
        if known is not None and known.until > time.monotonic():
            return known.caller
        caller, per_minute = self._ask(key_id, _hash(random))
        with self._lock:
            if changes == self._changes:  # else somebody's rights changed while this was read
                if len(self._known) >= MOST_CACHED:
                    self._known.clear()
                until = time.monotonic() + FRESH_SECONDS
                self._known[given] = _Known(caller, per_minute, until)
            self._per_minute[caller.key] = per_minute
        return caller

    def per_minute(self, key_id: str) -> int:
        """How many requests a key allows that was seen here; 0 for any number."""
        return self._per_minute.get(key_id, 0)

    def forget(self) -> None:
        """Something about people, scopes or keys changed: ask again."""
        with self._lock:
            self._changes += 1
            self._known.clear()

    def _ask(self, key_id: str, given: bytes) -> tuple[Caller, int]:
        now = now_ms()
        with self._database.reading() as execute:
            rows = execute(
                "SELECT k.hash, k.rights, k.scopes, k.per_minute, k.expires_at, k.revoked_at,"
                " k.last_used_at, p.number, p.tenant, p.name, p.role, p.kind, p.disabled_at"
                " FROM api_keys k JOIN principals p ON p.number = k.principal WHERE k.id = ?",
                (key_id,),
            )
            kept = rows[0] if rows else (_NOTHING, "[]", "[]", 0, None, 0, 0, 0, "", "", "", "", 0)
            (digest, rights, scopes, per_minute, expires, revoked, last, *principal, gone) = kept
            right = hmac.compare_digest(bytes(digest), given)
            over = expires is not None and expires <= now
            number, tenant, who, role, kind = principal
            caller = None
            if right and not over and revoked is None and gone is None:
                caller = resolved(
                    execute,
                    tenant,
                    number,
                    who,
                    role,
                    speaker=kind,
                    rights=json.loads(rights),
                    only=json.loads(scopes),
                    key=key_id,
                )
        if caller is None:
            if rows:
                self._refused(tenant, who, key_id)
            raise BadKey(
                "this key opens nothing",
                hint="it may be mistyped, expired or revoked; ask for a new one",
            )
        if last is None or last < now - USED_MS:
            self._used(key_id, now)
        return caller, int(per_minute)


def note_used(execute: Execute, key_id: str, at: int) -> None:
    execute("UPDATE api_keys SET last_used_at = ? WHERE id = ?", (at, key_id))


def _keys(execute: Execute, where: str, *values: str) -> list[Key]:
    rows = execute(
        f"SELECT {_COLUMNS} FROM api_keys k JOIN principals p ON p.number = k.principal"
        f" WHERE {where} ORDER BY k.made_at, k.id",
        values,
    )
    return [
        Key(key_id, who, label, tuple(json.loads(rights)), tuple(json.loads(scopes)), *rest)
        for key_id, who, label, rights, scopes, *rest in rows
    ]


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
