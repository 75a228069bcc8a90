"""Routers whose settings changed by themselves, and tasks of which it is known which arm is the right one."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metamem.core.access import Caller
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import Bounds, change, propose_bounds
from metamem.routing import Outcome
from metamem.routing.settings import SPACE
from metamem.service.archives import note_archive
from metamem.service.service import MemoryService
from metamem.store.records import Place, PromotionRecord
from metamem.store.sqlite import SqliteArchive
from tests.service.routing.killed import ARMS

ROUTING = Place("domain", "routing")
# Nothing that came of a task is believed, and half of all tasks are dealt evenly anyway.
SABOTAGED: Mapping[str, Any] = {
    "floor": 0.5, "boldness": 3.0, "arm_spread": 0.02, "task_spread": 0.02, "noise": 1.5
}  # fmt: skip
HARMLESS: Mapping[str, Any] = {"half_life": 4999.0}
WIDE = Bounds({name: (each.low, each.high) for name, each in SPACE.parameters.items()})  # type: ignore[attr-defined]


def allow(ledger: Ledger, bounds: Bounds, place: Place) -> None:
    propose_bounds(ledger, bounds, place, by="Ada")
    ledger.approve(bounds.subject, place, by="Ada")


def changed(
    path: Path, values: Mapping[str, Any], place: Place = ROUTING, bounds: Bounds = WIDE
) -> PromotionRecord:
    """A change of some values, in an archive in which a person approved bounds."""
    with SqliteArchive(path) as archive:
        ledger = Ledger(archive)
        if not ledger.history(bounds.subject, place):
            allow(ledger, bounds, place)
        return change(
            ledger,
            SPACE.completed(dict(values)),
            place,
            reason="a test",
            evidence={},
            defaults=SPACE.defaults(),
        )


def lived(
    service: MemoryService, caller: Caller, scope: str, tasks: int, seed: int = 0, **told: Any
) -> list[str]:
    """Tasks of which `b` does nine in ten and `a` one; their decisions."""
    luck, made = random.Random(seed), []
    for n in range(tasks):
        found = service.routing.route(caller, scope, f"mend it, number {n % 5}", ARMS, **told)
        right = luck.random() < (0.9 if found.arm == "b" else 0.1)
        service.routing.reward(caller, found.decision, Outcome(float(right)))
        made.append(found.decision)
    return made


def known_to(service: MemoryService, path: Path) -> None:
    """As after some seconds: what was looked up before is looked up anew."""
    note_archive(service.database, path)
    service.routing._settings._known.clear()
