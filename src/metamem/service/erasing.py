"""Erasing for good: a scope, or what one person said there, out of all places that hold it.

First the database loses it, in one transaction, which also notes what is still to be done
elsewhere. Then come the other places, each through its own eraser; a tombstone is set, and the
file is written anew, so that no byte is left in it, in its log or in copies of it. Whatever
interrupts that, it is gone on with when the service is next opened, or erases again.

Names of those who acted stay in the log and the audit; so do the reasons that they gave.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from metamem.core.access import Caller, Scope
from metamem.core.errors import MetamemError, StoreError, UsageError
from metamem.core.ids import canonical_json, content_id
from metamem.core.registry import factory, names
from metamem.service.access.acting import Act
from metamem.service.database import Database, new_id, now_ms
from metamem.service.erasing_rows import erase_person, erase_scope, texts_of
from metamem.service.sight import sight
from metamem.service.words import Tombstone
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert

_PENDING = "erasing:"  # before the id of an erasure that is not yet done everywhere
_SCRUB = "scrub due"
SCRUB_SECONDS = 20.0  # that others are waited for


class Eraser(Protocol):
    """Another place that may hold what a scope's memories said. Erasing twice must do no harm."""

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        """Delete all that is of the scope, or of one person there where a name is given; how much
        of what. A place that cannot tell persons apart deletes all. `texts` are the words that are
        to go; none, where an erasure is gone on with after an interruption."""
        ...


# Rows of other parts, inside the transaction: of the scope's number, and of a person in it if named.
RowEraser = Callable[[Execute, int, str], Mapping[str, int]]


class Erasing:
    def __init__(
        self,
        database: Database,
        erasers: Sequence[Eraser] = (),
        row_erasers: Sequence[RowEraser] = (),
    ) -> None:
        self._database = database
        self.erasers = list(erasers)
        self.row_erasers = list(row_erasers)
        self.trouble: StoreError | None = None  # why an interrupted erasure could not be ended

    def erase(
        self, act: Act, caller: Caller, scope: str, reason: str, person: str = ""
    ) -> Tombstone:
        """Delete, for whoever manages the scope."""
        if not reason.strip():
            raise UsageError("an erasure needs a reason", hint="say whose request or which rule")
        with self._database.writing() as execute:
            (number,) = sight(execute, caller, "manage", [scope]).scopes
            texts = texts_of(execute, number, person)
            counts: Counter[str] = Counter()
            for erase_rows in self.row_erasers:
                counts.update(erase_rows(execute, number, person))
            erased = (
                erase_person(execute, number, person) if person else erase_scope(execute, number)
            )
            counts.update(erased)
            for forgetter in names("forgetters"):  # of parts above, after the log has lost it
                counts.update(factory("forgetters", forgetter)(execute))
            # Answers that are kept for repeated requests do not say which scope they are of.
            replies = execute("DELETE FROM replies WHERE tenant = ? RETURNING 1", (caller.tenant,))
            counts["replies"] = len(replies)
            order = {
                "scope": scope,
                "person": person,
                "by": caller.who,
                "reason": reason,
                "at": now_ms(),
                "counts": dict(counts),
            }
            name = f"{_PENDING}{new_id('x')}"
            insert(execute, "service_settings", {"name": name, "value": canonical_json(order)})
            act.enter(execute)
        return self._elsewhere(name, order, texts)

    def waiting(self, execute: Execute) -> int:
        """Erasures that are still to be finished."""
        ((count,),) = execute(
            "SELECT COUNT(*) FROM service_settings WHERE name = ? OR name LIKE ?",
            (_SCRUB, f"{_PENDING}%"),
        )
        return int(count)

    def resume(self) -> None:
        """When the service is opened: what cannot be ended now goes on waiting, and is counted."""
        try:
            self.finish()
        except StoreError as error:
            self.trouble = error

    def finish(self) -> None:
        """Go on with what was interrupted."""
        with self._database.reading() as execute:
            rows = execute(
                "SELECT name, value FROM service_settings WHERE name LIKE ? ORDER BY name",
                (f"{_PENDING}%",),
            )
            due = bool(execute("SELECT 1 FROM service_settings WHERE name = ?", (_SCRUB,)))
        for name, value in rows:
            self._elsewhere(name, json.loads(value), ())
        if due and not rows:
            self._scrub()

    def _elsewhere(self, name: str, order: Mapping[str, Any], texts: Sequence[str]) -> Tombstone:
        counts = Counter(order["counts"])
        failed: list[str] = []
        scope, person = Scope.parse(order["scope"]), order["person"]
        for eraser in self.erasers:
            try:
                counts.update(eraser.erase(scope, person, texts))
            except (MetamemError, OSError) as error:
                failed.append(f"{type(eraser).__name__}: {error}")
        counts["backups"] += _remove_copies(self._database.path)
        if failed:
            raise StoreError(
                f"{scope} is erased from the database, but not everywhere: {'; '.join(failed)}",
                hint="it is tried again when the service is next opened or erases something",
            )
        what = f"{scope} person {content_id(person.casefold())}" if person else str(scope)
        tombstone = Tombstone(
            what, order["at"], order["by"], order["reason"], dict(sorted(counts.items()))
        )
        with self._database.writing() as execute:
            if execute("DELETE FROM service_settings WHERE name = ? RETURNING 1", (name,)):
                _set(execute, scope.tenant, tombstone)
            execute("DELETE FROM service_settings WHERE name = ?", (_SCRUB,))
            insert(execute, "service_settings", {"name": _SCRUB, "value": "1"})
        self._scrub()
        return tombstone

    def _scrub(self) -> None:
        deadline = time.monotonic() + SCRUB_SECONDS
        while True:
            try:
                self._database.scrub()
                break
            except StoreError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        with self._database.writing() as execute:
            execute("DELETE FROM service_settings WHERE name = ?", (_SCRUB,))


def tombstones(execute: Execute, tenant: str) -> list[Tombstone]:
    rows = execute(
        "SELECT what, at, decided_by, reason, counts FROM tombstones WHERE tenant = ? ORDER BY seq",
        (tenant,),
    )
    return [
        Tombstone(what, at, by, reason, json.loads(counts)) for what, at, by, reason, counts in rows
    ]


def _set(execute: Execute, tenant: str, tombstone: Tombstone) -> None:
    columns: dict[str, Value] = {
        "tenant": tenant,
        "what": tombstone.what,
        "at": tombstone.at,
        "decided_by": tombstone.decided_by,
        "reason": tombstone.reason,
        "counts": canonical_json(tombstone.counts),
    }
    insert(execute, "tombstones", columns)


def _remove_copies(database: Path) -> int:
    """Copies that were made before upgrades hold what was there then."""
    found = [
        *database.parent.glob(f"{database.name}.*.backup"),
        *database.parent.glob(f"{database.name}.*.backup.part"),
    ]
    for copy in found:
        copy.unlink(missing_ok=True)
    return len(found)
