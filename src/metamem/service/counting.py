"""How much is kept, and what still waits to be done, within a sight."""

from typing import Any

from metamem.service.sight import Sight
from metamem.store.engine import Execute


def counted(execute: Execute, view: Sight) -> dict[str, Any]:
    """By scope: facts by type and by lifecycle, and active ones whose vectors are still to be made."""
    within, values = view.within("scope")
    found: dict[int, dict[str, Any]] = {
        number: {"facts": 0, "types": {}, "lifecycle": {}, "waiting": {"vectors": 0}}
        for number in view.scopes
    }
    for number, type_, lifecycle, count in execute(
        f"SELECT scope, type, lifecycle, COUNT(*) FROM facts WHERE {within}"
        " GROUP BY scope, type, lifecycle",
        values,
    ):
        here = found[number]
        here["facts"] += count
        for group, name in (("types", type_), ("lifecycle", lifecycle)):
            here[group][name] = here[group].get(name, 0) + count
    made = dict(
        execute(f"SELECT scope, COUNT(*) FROM vectors WHERE {within} GROUP BY scope", values)
    )
    for number, here in found.items():
        active = here["lifecycle"].get("active", 0)
        here["waiting"]["vectors"] = max(0, active - made.get(number, 0))
    return {
        "facts": sum(here["facts"] for here in found.values()),
        "waiting": {"vectors": sum(here["waiting"]["vectors"] for here in found.values())},
        "scopes": {str(view.scopes[number]): here for number, here in found.items()},
    }
