"""Old names of settings keep working, and whoever uses one is told."""

import pytest

import metamem
from metamem.core.errors import UsageError
from metamem.core.types import Design
from metamem.runs.config import LearnConfig
from metamem.runs.settings import learn_config

ECHO = Design(
    "from metamem.designs import Memory\n\n\nclass Echo(Memory):\n"
    "    async def retrieve(self, query): return query.goal\n"
    "    async def update(self, experience): pass\n"
)


def test_a_run_stored_under_the_old_name_is_read() -> None:
    config = learn_config(None, "toy", "", {"isolation": "self"})
    stored = config.to_json()
    stored["layer"] = stored.pop("isolation")
    assert LearnConfig.from_json(stored) == config


def test_the_old_name_still_works_with_a_note() -> None:
    with pytest.warns(FutureWarning, match="'layer' is called 'isolation' now"):
        assert learn_config(None, "toy", "", {"layer": "self"}).isolation == "self"
    with (
        pytest.warns(FutureWarning, match="isolation"),
        metamem.open_memory(ECHO, layer="self") as memory,
    ):
        assert memory.retrieve("x") == "x"
    with pytest.raises(UsageError, match="old name"):
        learn_config(None, "toy", "", {"layer": "self", "isolation": "self"})
