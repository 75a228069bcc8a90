"""The way to win a task, by one who knows where everything is."""

from collections.abc import Mapping
from typing import Any

from bench.seventh.lore import CLOSED, CONTROLS, HUB, Lore, kind_of
from bench.seventh.world import WorkyardWorld


def walkthrough(data: Mapping[str, Any], lore: Lore) -> list[str]:
    """Actions that reach the goal: tools first, then things, then what is to be done with them."""
    goal, world = data["goal"], WorkyardWorld(data, lore)
    found: list[str] = []
    here = HUB

    def at(room: str, *actions: str) -> None:
        nonlocal here
        if room != here:
            direct = room in world.ways[here]
            found.extend([] if direct else [f"go to the {HUB}"])
            found.append(f"go to the {room}")
            here = room
        found.extend(actions)

    holding = {t: n for n, (_, _, things) in data["containers"].items() for t in things}
    sources = [
        (thing, holding[thing], *data["containers"][holding[thing]]) for thing in goal["things"]
    ]
    openers = {lore.opener[kind_of(name)] for _, name, _, sealed, _ in sources if sealed}
    for tool in sorted(openers | ({goal["tool"]} if "tool" in goal else set())):
        at(data["hooks"][tool], f"take the {tool} from the hook")
    opened = set()
    for thing, name, room, sealed, _ in sources:
        at(room)
        if kind_of(name) in CLOSED and name not in opened:
            opened.add(name)
            found.append(
                f"open the {name}" + (f" with the {lore.opener[kind_of(name)]}" if sealed else "")
            )
        found.append(f"take the {thing} from the {name}")
    if station := goal.get("station"):
        loading = [f"put the {thing} in the {station}" for thing in goal["things"]]
        start = f"{CONTROLS[lore.control[station]]} {station}"
        at(data["stations"][station][0], *loading, start)
        if "target" in goal:
            found.append(f"take the {goal['wanted']} from the {station}")
    thing, fixtures = goal["things"][0], data["fixtures"]
    if target := goal.get("target"):
        at(fixtures[target], f"put the {goal['wanted']} on the {target}")
    if box := goal.get("box"):
        at(fixtures[goal["instrument"]], f"hold the {thing} against the {goal['instrument']}")
        at(fixtures[box], f"put the {thing} in the {box}")
    if device := goal.get("device"):
        at(fixtures[device], f"fit the {thing} in the {device}")
    return found
