"""Experiments as the archive keeps them: results and refusals alike, none of them ever changed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from metamem.core.errors import UnknownName
from metamem.core.ids import content_id, short
from metamem.core.stored import restored
from metamem.runs.experiments.power import Power
from metamem.store.archive import Archive, RunRecord

KEY = "experiment"  # under which the config and the summary of a run have it
State = Literal["planned", "under way", "passed", "not passed", "refused"]
Json = Mapping[str, Any]
NOTHING: Json = {}


@dataclass(frozen=True, slots=True)
class Plan:
    """What names an experiment: the same is never played twice."""

    domain: str
    settings: Json
    hypothesis: str
    asks: str
    conditions: Json  # what two hypotheses must share, for the one to open the other
    terms: Json
    refused: bool = False  # before anything was played

    @property
    def id(self) -> str:
        """Also the name of its record."""
        made = content_id(asdict(self))
        return f"{KEY}/{self.domain}-{self.hypothesis}-{short(made)}"

    @property
    def under(self) -> str:
        return content_id("conditions", self.conditions)

    @staticmethod
    def from_json(data: Json) -> "Plan":
        return restored(Plan, data)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of one."""

    id: str
    plan: Plan
    state: State
    reason: str = ""
    overridden: str = ""  # why it would have been refused, had nobody insisted
    power: tuple[Power, ...] = ()  # as it was told, the newest last
    result: Json = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    begun: str = field(default="", compare=False)
    ended: str = field(default="", compare=False)

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "power": [p.to_json() for p in self.power]}

    @staticmethod
    def of(run: RunRecord) -> "Experiment":
        kept = run.summary.get(KEY, {})
        return restored(
            Experiment,
            {"state": "under way", **kept},
            id=run.id,
            plan=Plan.from_json(run.config[KEY]),
            power=tuple(Power.from_json(each) for each in kept.get("power", ())),
            warnings=tuple(kept.get("warnings", ())),
            begun=run.created_at,
            ended=run.changed_at if run.state == "finished" else "",
        )

    @property
    def kept(self) -> dict[str, Any]:
        """What of it the plan does not say."""
        data = self.to_json()
        return {KEY: {n: v for n, v in data.items() if n not in ("id", "plan", "begun", "ended")}}


def experiments(archive: Archive) -> list[Experiment]:
    """All that were ever begun or refused, oldest first."""
    return [Experiment.of(run) for run in archive.runs() if KEY in run.config]


def found(known: Sequence[Experiment], name: str) -> Experiment:
    """By its id, or how that ends."""
    fitting = [each for each in known if each.id == name or each.id.endswith(f"-{name}")]
    if not fitting:
        listed = ", ".join(each.id for each in known) or "none yet"
        raise UnknownName(f"no experiment called {name!r}", hint=f"known: {listed}")
    return fitting[-1]


def answers(known: Sequence[Experiment], hypothesis: str, under: str) -> list[Experiment]:
    """What was found of a hypothesis under some conditions, in the order in which it was found.

    An answer that somebody insisted on is none: what it rests on was never shown.
    """
    given = (
        each
        for each in known
        if each.plan.hypothesis == hypothesis
        and each.plan.under == under
        and each.state in ("passed", "not passed")
        and not each.overridden
    )
    return sorted(given, key=lambda each: each.ended)


def standing(known: Sequence[Experiment], hypothesis: str, under: str) -> Experiment | None:
    """The answer that counts: the first. A level holds for one, and who asks until it is yes hears yes
    in the end; so whatever is asked after it is kept and counts for nothing."""
    return next(iter(answers(known, hypothesis, under)), None)
