"""A workyard that is acted in. Nothing in it is left to chance."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from bench.seventh.lore import (
    BOXES,
    CLOSED,
    CONTROLS,
    DEVICES,
    HUB,
    INSTRUMENTS,
    MATERIALS,
    RECIPES,
    STATIONS,
    TOOLS,
    Lore,
    kind_of,
)
from metamem.core.types import Observation

HOLDS = 2  # things in a station


class WorkyardWorld:
    """The yard of one task."""

    def __init__(self, data: Mapping[str, Any], lore: Lore) -> None:
        self.data, self.lore = data, lore
        self.goal: Mapping[str, Any] = data["goal"]
        ways: dict[str, set[str]] = {}
        for one, other in data["doors"]:
            ways.setdefault(one, set()).add(other)
            ways.setdefault(other, set()).add(one)
        self.ways = {room: sorted(others) for room, others in ways.items()}

    def reset(self) -> Observation:
        self.room = HUB
        self.hands: list[str] = []
        self.lying: dict[str, dict[str, None]] = {
            name: dict.fromkeys(things) for name, (_, _, things) in self.data["containers"].items()
        }
        self.lying |= {station: {} for station in self.data["stations"]}
        self.lying |= {
            f"{room} hook": {t: None for t, at in self.data["hooks"].items() if at == room}
            for room in self.ways
        }
        self.shut = {name for name in self.data["containers"] if kind_of(name) in CLOSED}
        self.assayed: set[str] = set()
        return self._seen(self._around())

    def step(self, action: str) -> Observation:
        call = self.calls.get(action)
        if call is None:
            return self._seen("Nothing happens.")
        method, *named = call
        outcome: str | Observation = getattr(self, f"_{method}")(*named)
        return outcome if isinstance(outcome, Observation) else self._seen(outcome)

    def close(self) -> None:
        pass

    def _seen(self, text: str) -> Observation:
        self.calls = dict(sorted(self._possible()))
        return Observation(text, tuple(self.calls))

    def _possible(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Every action that is shown, and what it calls."""
        for room in self.ways[self.room]:
            yield f"go to the {room}", ("go", room)
        for place, shown in self._places():
            if place in self.shut:
                yield f"open the {place}", ("open", place)
                for tool in (t for t in self.hands if t in TOOLS):
                    yield f"open the {place} with the {tool}", ("open", place, tool)
            else:
                for thing in self.lying[place]:
                    yield f"take the {thing} from the {shown}", ("take", thing, place)
        things = [t for t in self.hands if t not in TOOLS]
        for station in self._here("stations"):
            for control in self.data["stations"][station][1]:
                yield f"{CONTROLS[control]} {station}", ("control", control, station)
            if len(self.lying[station]) < HOLDS:
                for thing in things:
                    yield f"put the {thing} in the {station}", ("load", thing, station)
        for fixture in self._here("fixtures"):
            way, method = _use(fixture)
            for thing in things:
                yield f"{way[0]} the {thing} {way[1]} the {fixture}", (method, thing, fixture)

    def _here(self, part: str) -> list[str]:
        """What of a part of the task is in this room."""
        rows = self.data[part].items()
        return [n for n, row in rows if (row if isinstance(row, str) else row[0]) == self.room]

    def _places(self) -> list[tuple[str, str]]:
        """Where things may lie in this room, and what that is called."""
        named = [*self._here("containers"), *self._here("stations")]
        return [*((name, name) for name in named), (f"{self.room} hook", "hook")]

    def _around(self) -> str:
        told = [f"You are in the {self.room}."]
        for station in self._here("stations"):
            _, controls = self.data["stations"][station]
            told.append(f"There is a {station} with {_listed(controls)}.")
        for fixture in self._here("fixtures"):
            broken = "broken " if fixture == self.goal.get("device") else ""
            told.append(f"There is a {broken}{fixture}.")
        for place, shown in self._places():
            if place in self.shut:
                told.append(f"There is a {place}, closed.")
            elif self.lying[place] or place in self.data["containers"]:
                where = "On" if shown == "hook" else "In"
                told.append(f"{where} the {shown}: {', '.join(self.lying[place]) or 'nothing'}.")
        told.append(f"Doors lead to {_listed(self.ways[self.room], 'the')}.")
        return " ".join(told)

    # What actions do.

    def _go(self, room: str) -> str:
        self.room = room
        return self._around()

    def _open(self, place: str, tool: str = "") -> str:
        if self.data["containers"][place][1] and tool != self.lore.opener[kind_of(place)]:
            return f"The {place} is sealed, and {tool or 'a bare hand'} will not open it."
        self.shut.discard(place)
        return f"You open the {place}. In it: {', '.join(self.lying[place]) or 'nothing'}."

    def _take(self, thing: str, place: str) -> str:
        del self.lying[place][thing]
        self.hands.append(thing)
        return f"You hold {_listed(self.hands, 'the')}."

    def _load(self, thing: str, station: str) -> str:
        self.hands.remove(thing)
        self.lying[station][thing] = None
        return f"In the {station}: {', '.join(self.lying[station])}."

    def _control(self, control: str, station: str) -> str | Observation:
        """The right one makes the station run once, with whatever is in it."""
        inside = self.lying[station]
        if control != self.lore.control[station]:
            return f"The {control} moves, and the {station} stays still."
        if not inside:
            return f"The {station} runs, empty, and stops."
        given = " and ".join(inside)
        product = RECIPES.get((station, frozenset(inside)))
        if product is None and (len(inside) > 1 or given not in MATERIALS):
            return f"The {station} runs and can do nothing with {given}."
        product = product or f"{STATIONS[station]} {given}"
        self.lying[station] = {product: None}
        told = f"The {station} runs and makes {product} of {given}."
        wins = self.goal.get("product") == product and "target" not in self.goal
        return self._over(told, 1.0) if wins else told

    def _put(self, thing: str, target: str) -> str | Observation:
        if target != self.goal.get("target") or thing != self.goal["wanted"]:
            return f"Nobody wants {thing} on the {target}."
        return self._over(f"The {thing} lies on the {target}.", 1.0)

    def _hold(self, thing: str, instrument: str) -> str:
        if thing not in self.lore.box or self.lore.instrument_for(thing) != instrument:
            return f"The {instrument} says nothing about {thing}."
        self.assayed.add(thing)
        return f"The {instrument} tells that this is pure {thing}."

    def _box(self, thing: str, box: str) -> str | Observation:
        if thing not in self.assayed:
            return f"The {box} takes nothing that was not assayed."
        if self.lore.box[thing] != box:
            return self._over(f"The {box} swallows the {thing}. It was the wrong box.", 0.0)
        told = f"The {box} takes the {thing}."
        if thing not in self.goal["things"]:
            self.hands.remove(thing)
            return told
        return self._over(told, 1.0)

    def _fit(self, thing: str, device: str) -> str | Observation:
        if thing != self.lore.part[device]:
            return f"The {thing} does not belong in the {device}."
        if self.lore.tool[device] not in self.hands:
            return f"The {thing} belongs in the {device}, but it falls out again without the right tool."
        return self._over(f"The {device} is mended.", 1.0)

    def _over(self, text: str, reward: float) -> Observation:
        self.calls = {}
        return Observation(text, (), reward, True)


@cache
def _use(fixture: str) -> tuple[tuple[str, str], str]:
    """How one uses a fixture: the words, and what they call."""
    if fixture in BOXES:
        return ("put", "in"), "box"
    if fixture in INSTRUMENTS:
        return ("hold", "against"), "hold"
    return (("fit", "in"), "fit") if fixture in DEVICES else (("put", "on"), "put")


def _listed(names: Sequence[str], article: str = "a") -> str:
    return " and ".join(f"{article} {name}" for name in names)
