"""A text environment of Gymnasium's own kind, played as a domain."""

import random
import string
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import UsageError
from metamem.core.types import Task
from metamem.domains.conformance import DomainConformance
from metamem.domains.gymnasium import NOT_AN_ACTION, GymnasiumDomain
from tests.cli.conftest import program
from tests.extras import needs

gymnasium = needs("gymnasium")


class Guess(gymnasium.Env[str, Any]):
    """One of four words is right; which one is said by the colour that is shown."""

    metadata = {"action_names": ("north", "south", "east", "west"), "render_modes": []}  # noqa: RUF012
    observation_space = gymnasium.spaces.Text(100, charset=string.printable)
    action_space = gymnasium.spaces.Discrete(4)
    colours = ("red", "blue", "green", "white")

    def __init__(self, picture: bool = False) -> None:
        self.picture = picture

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.right = random.Random(seed).randrange(4)
        seen = f"You see {self.colours[self.right]} light."
        return (b"\0" if self.picture else seen), {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "It is done.", float(int(action) == self.right), True, False, {}


gymnasium.register("metamem-guess-v0", entry_point=Guess)


class TestGymnasium(DomainConformance):
    floor = 0.7  # one guess in four is right

    def make(self) -> GymnasiumDomain:
        return Told("metamem-guess-v0", tasks=20)


class Told(GymnasiumDomain):
    """With answers, so that the ceiling can be seen."""

    def oracle(self, task: Task) -> str:
        return Guess.metadata["action_names"][random.Random(task.data["seed"]).randrange(4)]


def test_names_become_numbers_and_anything_else_is_answered() -> None:
    domain = GymnasiumDomain("metamem-guess-v0", tasks=4)
    task = domain.tasks("train")[0]
    world = domain.world(task, 0)
    first = world.reset()
    assert first.actions == ("north", "south", "east", "west")
    assert world.step("up").text == NOT_AN_ACTION
    right = Told("metamem-guess-v0", tasks=4).oracle(task)
    seen = world.step(right)
    assert (seen.reward, seen.done) == (1.0, True)
    world.close()


def test_what_cannot_be_played_is_said_plainly() -> None:
    with pytest.raises(UsageError, match="which environment"):
        GymnasiumDomain()
    with pytest.raises(UsageError, match="cannot be made") as unknown:
        GymnasiumDomain("no-such-env-v0")
    assert "my_package:MyEnv-v0" in unknown.value.hint
    with pytest.raises(UsageError, match=r"module 'no_such_module'.*cannot be imported") as missing:
        GymnasiumDomain("metamem-guess-v0", shift="no_such_module:Env-v0")
    assert "PYTHONPATH" in missing.value.hint
    with pytest.raises(UsageError, match="cannot be imported"):
        GymnasiumDomain(":Env-v0")
    unversioned = GymnasiumDomain("no-such-env")
    with pytest.raises(UsageError, match="cannot be made"):
        unversioned.world(unversioned.tasks("train")[0], 0)
    strange = GymnasiumDomain("metamem-guess-v0", settings={"colour": "red"})
    with pytest.raises(UsageError, match="colour"):
        strange.world(strange.tasks("train")[0], 0)
    pictures = GymnasiumDomain("metamem-guess-v0", settings={"picture": True})
    world = pictures.world(pictures.tasks("train")[0], 0)
    with pytest.raises(UsageError, match="not text"):
        world.reset()
    nameless = GymnasiumDomain("metamem-guess-v0", actions=("one",))
    with pytest.raises(UsageError, match="names for them"):
        nameless.world(nameless.tasks("train")[0], 0)


def test_the_command_line_refuses_what_is_not_there(tmp_path: Path) -> None:
    for name, said in (("nowhere:Env-v0", "'nowhere'"), ("Nothing-v0", "Nothing")):
        done = program("learn", "gymnasium", "--data", name, "--home", tmp_path / "home")
        assert done.returncode == 2
        assert said in done.stderr and "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 2
