"""A toy domain of parameters in one file: the dials of a radio, set once for all broadcasts.

Every broadcast is received with the same dials. Where its station lies and how strong it is differs a
little from one to the next, so no setting is perfect, and some are far better than the factory's.
"""

import math
import random
from collections.abc import Mapping
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Trial
from metamem.core.space import Bool, Choice, Float, Int, Only, Space
from metamem.core.types import Scored, Task
from metamem.domains.base import ParamsBase

SIZES = {"train": 60, "valid": 40, "test": 40, "shift": 40}
CLEAR, NOISE_ONLY = 20.0, -20.0  # signal over noise in decibels, at best and at worst
SHIFT = 0.6  # megahertz by which all stations have moved elsewhere


class DialsDomain(ParamsBase):
    name = "dials"
    reward_range = (NOISE_ONLY, CLEAR)
    suggestions: Mapping[str, Any] = {"designs": 60}

    space = Space(
        {
            "frequency": Float(88.0, 108.0, 100.0),
            "gain": Float(0.01, 100.0, 1.0, log=True),
            "stages": Int(1, 6, 2),
            "filter": Choice(("off", "wide", "narrow"), "off"),
            "width": Float(5.0, 200.0, 100.0, log=True, only=Only("filter", ("narrow",))),
            "stereo": Bool(True),
        }
    )

    def __init__(self, seed: int = 0, effect: float = 1.0) -> None:
        """`effect`: how much the dials matter; at 0 every setting is worth the same."""
        if not 0 <= effect <= 1:
            raise UsageError(f"the effect lies from 0 to 1, not at {effect}")
        self.seed, self.effect = seed, effect
        self.version = content_id("dials", 1, seed, effect, SIZES)[:12]
        luck = random.Random(derive_seed("dials", seed))
        self._station = luck.uniform(90.0, 106.0)
        self._gain = math.exp(luck.uniform(math.log(3.0), math.log(40.0)))
        self._stages = luck.randint(3, 5)
        self._width = math.exp(luck.uniform(math.log(15.0), math.log(60.0)))

    def describe(self) -> str:
        return "Set the dials of a radio so that broadcasts come in clearly, in decibels."

    def tasks(self, split: str) -> list[Task]:
        made = []
        for n in range(SIZES[split]):
            luck = random.Random(derive_seed("dials", self.seed, split, n))
            kind = ("speech", "music")[n % 2]
            away = luck.gauss(0.0, 0.3) + (SHIFT if split == "shift" else 0.0)
            data = {"station": self._station + away, "weak": luck.uniform(0.0, 1.0)}
            made.append(Task(f"{split}-{n:03d}", f"receive some {kind}", kind, data))
        return made

    def baselines(self) -> tuple[str, ...]:
        return ("loud", "careful")

    def preset(self, name: str) -> Mapping[str, Any]:
        presets: dict[str, dict[str, Any]] = {
            "loud": {"gain": 30.0, "stages": 6},
            "careful": {"filter": "narrow", "width": 30.0, "stereo": False},
        }
        if name not in presets:
            return super().preset(name)
        return self.space.completed(presets[name])

    def invariants(self) -> tuple[str, ...]:
        return ("all broadcasts are received with the same dials",)

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        """Decibels lost by each dial that is not where it should be, and the weather."""
        away = values["frequency"] - task.data["station"]
        lost = 12.0 * (1.0 - math.exp(-(away**2) / 8.0))
        lost += 0.8 * abs(math.log2(values["gain"] / self._gain))
        lost += 0.6 * abs(values["stages"] - self._stages)
        if values["filter"] == "narrow":
            lost += 0.8 * abs(math.log2(values["width"] / self._width))
        else:
            lost += 2.0 if values["filter"] == "wide" else 3.5
        if values["stereo"] and task.kind == "speech":
            lost += 3.0 * task.data["weak"]
        if not values["stereo"] and task.kind == "music":
            lost += 1.0
        weather = random.Random(trial.seed).gauss(0.0, 3.0)
        heard = CLEAR - 5.0 - self.effect * lost + weather
        power = values["stages"] * (1.0 + 0.05 * values["gain"])
        return Scored(min(max(heard, NOISE_ONLY), CLEAR), {"watts": power})
