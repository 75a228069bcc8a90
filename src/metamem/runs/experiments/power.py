"""What an experiment could see: told before it is played."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.figures import Scale
from metamem.core.stored import restored
from metamem.evaluation.statistics import detectable, rise_error, tasks_needed
from metamem.evaluation.statistics.effects import reach
from metamem.evaluation.statistics.trend import FEWEST, STREAMS
from metamem.runs.experiments.terms import POWER

_LONGEST = 10_000  # places of a stream that are looked at


@dataclass(frozen=True, slots=True)
class Power:
    """The least effect that so many tasks show, and how many it takes to see the one wanted."""

    of: str  # gain: of rewards; rise: of the gain, from the first task of a stream to the last
    tasks: int
    level: float  # of each comparison, one-sided
    spread: float  # of gains from task to task
    known_from: str  # where the spread comes from
    detectable: float  # with a chance of POWER
    effect: float  # what one would like to see
    needed: int  # tasks to see that

    @property
    def enough(self) -> bool:
        return self.needed <= self.tasks

    def told(self, scale: Scale) -> str:
        unit = scale.unit_of_gains
        return (
            f"Power: {self.tasks} tasks show a {self.of} of {scale.gain(self.detectable)}{unit} or more"
            f" with a chance of {POWER:.0%}, at a level of {self.level:.3g} one-sided; for"
            f" {scale.gain(self.effect)}{unit} it takes about {self.needed} tasks (a spread of"
            f" {scale.value(self.spread)}{unit} from task to task, {self.known_from})."
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Power":
        return restored(Power, data)


def power_of_gain(tasks: int, level: float, spread: float, known_from: str, effect: float) -> Power:
    least = detectable(tasks, spread, level, POWER, one_sided=True)
    needed = tasks_needed(effect, spread, level, POWER, one_sided=True)
    return Power("gain", tasks, level, spread, known_from, least, effect, needed)


def power_of_growth(
    lengths: Sequence[int], level: float, spread: float, known_from: str, effect: float
) -> Power:
    """Of streams of these lengths, if they rise alike and their tasks are independent: then it sees most.
    `needed` counts tasks of as many streams, all equally long."""
    tasks, streams = sum(lengths), len(lengths)
    if streams < STREAMS or min(lengths) < FEWEST:
        raise UsageError(f"{tasks} tasks in {streams} streams are too few for a rise")
    errors = reach(streams - 1.0, level, POWER, one_sided=True)
    least = errors * rise_error(lengths, spread)

    def enough(length: int) -> bool:
        return errors * rise_error([length] * streams, spread) <= effect

    length = next((n for n in range(3, _LONGEST) if enough(n)), _LONGEST)
    return Power("rise", tasks, level, spread, known_from, least, effect, streams * length)
