"""What agents lived through in a scope, as a domain: designs are learned from production.

A task is a recorded moment at which somebody asked for advice. Its reward says how much of what
proved to be wanted then is in the advice that a design would have given.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.core.ids import content_id
from metamem.core.splits import check_split
from metamem.core.types import Experience, Observation, Task
from metamem.domains.base import DomainBase
from metamem.service.archives import note_archive
from metamem.service.database import FILE, Database
from metamem.service.designs import recorded, scoring
from metamem.service.designs.recorded import Moment
from metamem.service.designs.windows import FEWEST, Window, windows
from metamem.service.home import memory_folder


class ScopeDomain(DomainBase):
    """Recorded moments of one scope.

    `data` names the scope, `folder` is that of the memory service and `until` the last event that
    counts. `cost` is taken off for each token of advice; `history` is how many experiences a memory
    is given at most, and `most` how many moments are used, the newest of each.
    """

    max_steps = 1
    agent = "relay"
    whose = ("data", "folder", "until")
    # Nothing is left to chance at a recorded moment: once is enough.
    suggestions: Mapping[str, Any] = {"designs": 80, "final_repeats": 1, "confirm_seeds": 1}

    def __init__(
        self,
        data: str,
        folder: str = "",
        until: int = 0,
        cost: float = 0.001,
        history: int = 1000,
        most: int = 2000,
    ) -> None:
        if not 0.0 <= cost < 1.0:
            raise UsageError(f"the cost of a token lies between 0 and 1, not at {cost}")
        scope = Scope.parse(data)
        place = self._folder = memory_folder(folder)
        until = until or recorded.last_event(place, scope)
        found = recorded.read(place, scope, until)
        if len(found.moments) < FEWEST:
            raise UsageError(
                f"{scope} has {len(found.moments)} recorded moments of which it is known what was"
                f" wanted, of {found.asked} at which advice was asked for; it takes {FEWEST}",
                hint="ask for advice, and tell what came of it with the moment's id; for anything"
                " to be promoted it takes about 120",
            )
        self.name, self.origin = f"scope:{scope}", str(scope)
        self._records, self._cost, self._history = found, cost, history
        wanted = (each for moment in found.moments for each in moment.wanted)
        self._known = {each.text for each in wanted if each.kind == "action"}
        self._windows = windows(found.moments[-most:])
        self._by_name = {w.name: w for several in self._windows.values() for w in several}
        self.version = content_id(
            scoring.VERSION, self.origin, until, found.digest, cost, history, most
        )[:12]

    @staticmethod
    def pinned(settings: Mapping[str, Any]) -> dict[str, Any]:
        """The scope goes on growing: what a run learns from is what there is as it begins."""
        if "data" not in settings:
            raise UsageError("which scope?", hint="metamem learn scope:TENANT/KIND/NAME")
        folder = memory_folder(settings.get("folder"))
        until = settings.get("until") or recorded.last_event(folder, Scope.parse(settings["data"]))
        return {**settings, "folder": str(folder), "until": until}

    def describe(self) -> str:
        used = sum(len(window.moments) for window in self._by_name.values())
        return (
            f"Recorded moments of {self.origin} at which an agent asked for advice: {used} of"
            f" {self._records.asked}, those of which it is known what was wanted. A memory is given"
            " what agents lived through before a window of time, then it is asked about the moments"
            " in the window; older windows are train, then come valid and test, and the newest is"
            " shift. What was wanted are the actions that then paid, or all actions of an episode"
            " that paid, and the facts that were marked as useful. The reward is the share of that"
            " which the advice holds, shared among all actions it names that ever paid, less"
            f" {self._cost:g} for each of its tokens. Judged from"
            " records, advice can be seen to hold what worked, not to be followed: nobody acts on"
            " it here, what nobody tried is worth nothing, moments that failed are left out, and"
            " where advice was given, it had a part in what was tried. So a design that passes"
            " here waits for a live comparison."
        )

    def kept_in(self, archive: Path) -> None:
        """So that whoever erases the scope finds the archive."""
        database = Database(self._folder / FILE, create=False)
        try:
            note_archive(database, archive)
        finally:
            database.close()

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        return tuple(
            Task(moment.id, moment.query.goal, _kind(moment), {"moment": moment}, window.name)
            for window in self._windows[split]
            for moment in window.moments
        )

    def world(self, task: Task, seed: int) -> "MomentWorld":
        """Nothing is left to chance, so the seed plays no part."""
        return MomentWorld(task.data["moment"], self._cost, self._known)

    def history(self, group: str) -> Sequence[Experience]:
        return self._records.before(self._window(group).begins, self._history)

    def baselines(self) -> tuple[str, ...]:
        return (*super().baselines(), "object_places", "line_search")

    def invariants(self) -> tuple[str, ...]:
        return (
            "A memory knows only what came before the window of time in which it is asked.",
            "Later windows have longer histories; nothing of a window is in its own history.",
            "An episode is one action: the advice, word for word.",
            "An action counts as told where its words stand in the advice one after another; where"
            " others that ever paid are told beside it, the reward is shared among them.",
            f"Each token of advice costs {self._cost:g}, and no reward is below 0 or above 1.",
            "Advice that holds nothing of what was wanted is worth no more than none.",
        )

    def oracle(self, task: Task) -> str:
        moment: Moment = task.data["moment"]
        return "\n".join(wanted.text for wanted in moment.wanted)

    def _window(self, group: str) -> Window:
        return self._by_name[group]


class MomentWorld:
    """One moment: it is shown as it was, and the first action is the advice."""

    def __init__(self, moment: Moment, cost: float, known: Iterable[str]) -> None:
        self._moment, self._cost, self._known = moment, cost, known

    def reset(self) -> Observation:
        query = self._moment.query
        return Observation(query.observation, query.actions)

    def step(self, action: str) -> Observation:
        reward = scoring.worth(action, self._moment.wanted, self._cost, self._known)
        return Observation("Noted.", (), reward, True)

    def close(self) -> None:
        pass


def _kind(moment: Moment) -> str:
    """What reports sum up by."""
    return " and ".join(sorted({f"{wanted.kind}s" for wanted in moment.wanted}))
