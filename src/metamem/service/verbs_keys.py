"""Keys and the audit as requests: one operation for each verb of `Administers`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metamem.service.access.audit import Numbered
from metamem.service.access.keys import OVERLAP_MS, PER_MINUTE, Key, NewKey
from metamem.service.operation import Call, Operation
from metamem.service.verbs import Nothing


@dataclass(frozen=True, slots=True)
class MakeKey:
    who: str = ""
    label: str = ""
    rights: tuple[str, ...] = ("read", "write")
    scopes: tuple[str, ...] = ()
    per_minute: int = PER_MINUTE
    most_facts: int | None = None
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class RotateKey:
    key: str
    overlap_ms: int = OVERLAP_MS


@dataclass(frozen=True, slots=True)
class OneKey:
    key: str


@dataclass(frozen=True, slots=True)
class Audit:
    after: int = 0
    limit: int = 100


KEYS = Operation(
    "keys",
    "GET",
    "/v1/keys",
    Nothing,
    list[Key],
    "The caller's keys; all of the tenant's for an admin. Never a secret.",
    lambda service, given: service.administration.keys(),
)
MAKE_KEY = Operation(
    "make_key",
    "POST",
    "/v1/keys",
    MakeKey,
    NewKey,
    "Make a key. Its secret is in this reply and nowhere else, so that an idempotency key is"
    " refused here.",
    lambda service, given: service.administration.make_key(
        given.who,
        label=given.label,
        rights=given.rights,
        scopes=given.scopes,
        per_minute=given.per_minute,
        most_facts=given.most_facts,
        expires_at=given.expires_at,
    ),
    writes=True,
    secret=True,
)
ROTATE_KEY = Operation(
    "rotate_key",
    "POST",
    "/v1/keys/{key}/rotate",
    RotateKey,
    NewKey,
    "A new key in the place of one, which ends after the overlap.",
    lambda service, given: service.administration.rotate_key(given.key, given.overlap_ms),
    writes=True,
    secret=True,
)
REVOKE_KEY = Operation(
    "revoke_key",
    "POST",
    "/v1/keys/{key}/revoke",
    OneKey,
    Key,
    "End a key now.",
    lambda service, given: service.administration.revoke_key(given.key),
    writes=True,
)
AUDIT = Operation(
    "audit",
    "GET",
    "/v1/audit",
    Audit,
    list[Numbered],
    "Who did what in the tenant, oldest first. `seq` of the last entry is `after` of the next page.",
    lambda service, given: service.administration.audit(given.after, given.limit),
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    KEYS,
    MAKE_KEY,
    ROTATE_KEY,
    REVOKE_KEY,
    AUDIT,
)


def keys() -> Call[list[Key]]:
    return KEYS(Nothing())


def make_key(
    who: str = "",
    *,
    label: str = "",
    rights: Sequence[str] = ("read", "write"),
    scopes: Sequence[str] = (),
    per_minute: int = PER_MINUTE,
    most_facts: int | None = None,
    expires_at: int | None = None,
) -> Call[NewKey]:
    return MAKE_KEY(
        MakeKey(who, label, tuple(rights), tuple(scopes), per_minute, most_facts, expires_at)
    )


def rotate_key(key_id: str, overlap_ms: int = OVERLAP_MS) -> Call[NewKey]:
    return ROTATE_KEY(RotateKey(key_id, overlap_ms))


def revoke_key(key_id: str) -> Call[Key]:
    return REVOKE_KEY(OneKey(key_id))


def audit(after: int = 0, limit: int = 100) -> Call[list[Numbered]]:
    return AUDIT(Audit(after, limit))
