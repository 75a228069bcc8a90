"""Any Gymnasium environment that speaks text, as a domain (extra `metamem[gymnasium]`).

    metamem learn gymnasium --data my_package:MyEnv-v0

A task is a seed of the environment. Observations are text, or a dict whose text values are shown
under their keys. Actions are text, or numbers with names: those of `actions`, of the
environment's metadata under `action_names`, or of what it tells under `admissible_actions`.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core import extras
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.splits import check_split
from metamem.core.types import Observation, Task
from metamem.domains.base import DomainBase

_VERSIONED = re.compile(r"-v\d+$")
NOT_AN_ACTION = "That is not one of the actions."


class GymnasiumWorld:
    def __init__(self, env: Any, seed: int, actions: Sequence[str]) -> None:
        self._env, self._seed = env, seed
        self._names = tuple(actions or env.metadata.get("action_names", ()))
        self._numbered = type(env.action_space).__name__ == "Discrete"
        if self._numbered and len(self._names) != int(env.action_space.n):
            raise UsageError(
                f"the environment has {int(env.action_space.n)} actions and"
                f" {len(self._names)} names for them",
                hint="give `actions`, or action_names in the environment's metadata",
            )

    def reset(self) -> Observation:
        seen, told = self._env.reset(seed=self._seed)
        self._total = 0.0
        self._last = Observation(_text(seen), self._actions(told))
        return self._last

    def step(self, action: str) -> Observation:
        if self._numbered and action not in self._names:
            return Observation(NOT_AN_ACTION, self._last.actions, self._last.reward)
        given = self._names.index(action) if self._numbered else action
        seen, reward, ended, cut, told = self._env.step(given)
        self._total += float(reward)
        done = bool(ended or cut)
        shown = () if done else self._actions(told)
        self._last = Observation(_text(seen), shown, min(1.0, max(0.0, self._total)), done)
        return self._last

    def close(self) -> None:
        self._env.close()

    def _actions(self, told: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(a) for a in told.get("admissible_actions", self._names))


class GymnasiumDomain(DomainBase):
    """Tasks are seeds of one environment; rewards add up and are kept between 0 and 1.

    `shift` names another environment, or other settings of the same one (`shift_settings`).
    Without either, the split `shift` holds merely other seeds, and says nothing about transfer.
    """

    name = "gymnasium"

    def __init__(
        self,
        data: str = "",
        goal: str = "Get as much reward as you can.",
        settings: Mapping[str, Any] | None = None,
        shift: str = "",
        shift_settings: Mapping[str, Any] | None = None,
        actions: Sequence[str] = (),
        tasks: int = 100,
        max_steps: int = 50,
        seed: int = 0,
    ) -> None:
        if not data:
            raise UsageError(
                "which environment?", hint="name it with --data, such as my_package:MyEnv-v0"
            )
        if tasks < 2:
            raise UsageError("a split needs at least two tasks")
        self._env, self._settings = data, dict(settings or {})
        self._shift = shift or data
        for name in (self._env, self._shift):
            _check(name)
        self._shift_settings = {**self._settings, **(shift_settings or {})}
        self._goal, self._names, self._count = goal, tuple(actions), tasks
        self._seed, self.max_steps = seed, max_steps
        self.version = content_id(
            "gymnasium",
            1,
            data,
            self._settings,
            self._shift,
            self._shift_settings,
            list(actions),
            goal,
            tasks,
            seed,
        )[:12]

    def describe(self) -> str:
        return f"The Gymnasium environment {self._env}. {self._goal}"

    def tasks(self, split: str) -> list[Task]:
        check_split(split)
        return [
            Task(
                f"{split}-{n:03d}",
                self._goal,
                data={"seed": derive_seed("gymnasium", self._seed, split, n) % 2**31},
            )
            for n in range(self._count)
        ]

    def world(self, task: Task, seed: int) -> GymnasiumWorld:
        gymnasium = _gymnasium()
        shifted = task.id.startswith("shift")
        name = self._shift if shifted else self._env
        settings = self._shift_settings if shifted else self._settings
        try:
            env = gymnasium.make(name, **settings)
        except gymnasium.error.Error as error:
            raise _unknown(name, error) from error
        except TypeError as error:
            raise UsageError(
                f"the environment {name} cannot be made with {settings}: {error}",
                hint="give it the `settings` that its constructor takes",
            ) from error
        return GymnasiumWorld(env, task.data["seed"], self._names)

    def oracle(self, task: Task) -> str:
        return ""  # nobody knows the answers of any environment there may be


def _gymnasium() -> Any:
    extras.load(GymnasiumDomain.name)
    import gymnasium

    return gymnasium


def _check(name: str) -> None:
    """Refuse a name that stands for nothing before anything is begun."""
    gymnasium = _gymnasium()
    module, _, identity = name.rpartition(":")
    try:
        if ":" in name:
            importlib.import_module(module)  # which registers its environments
    except Exception as error:  # a module can fail in any way when it is imported
        raise UsageError(
            f"the module {module!r} of the environment {name} cannot be imported: {error}",
            hint="install its package, or put its folder on PYTHONPATH; the form is MODULE:Env-v0",
        ) from error
    if not _VERSIONED.search(identity):
        return  # the newest version, which is found when it is made
    try:
        gymnasium.spec(identity)
    except gymnasium.error.Error as error:
        raise _unknown(name, error) from error


def _unknown(name: str, error: Exception) -> UsageError:
    return UsageError(
        f"the environment {name} cannot be made: {error}",
        hint="name the module that registers it, as in my_package:MyEnv-v0; `python -c 'import"
        " gymnasium, my_package; gymnasium.pprint_registry()'` lists what there is",
    )


def _text(seen: Any) -> str:
    if isinstance(seen, str):
        return seen
    if isinstance(seen, Mapping):
        parts = [f"{key}: {value}" for key, value in seen.items() if isinstance(value, str)]
        if parts:
            return "\n".join(parts)
    raise UsageError(
        f"the environment shows {type(seen).__name__}, not text",
        hint="wrap it in an ObservationWrapper that returns text or a dict with texts",
    )
