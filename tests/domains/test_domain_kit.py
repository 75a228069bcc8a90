"""What one who writes a domain is told: by the suite, by `domains follow`, and before learning."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import metamem  # noqa: F401
from tests.domains.test_adding_a_domain import SOURCE

FAULTS = """
from lamps import *
from itertools import count

CALLS = count()


class Unsteady(LampDomain):
    def world(self, task, seed):
        return LampWorld(task.data["room"], self._right(task.data["room"]), next(CALLS))


class Shared(LampDomain):
    def tasks(self, split):
        return super().tasks("train" if split == "valid" else split)


class Telling(LampDomain):
    def oracle(self, task):
        return task.goal


class Lucky(LampDomain):
    max_steps = 10


class Leaky(LampDomain):
    def world(self, task, seed):
        world = super().world(task, seed)
        world.file = open(__file__)
        KEPT.append(world)
        return world


KEPT = []


class ByChance(LampDomain):
    name = "by_chance"
    agent = "random"


class Silent(LampDomain):
    def oracle(self, task):
        return ""


class Few(LampDomain):
    name = "few"

    def __init__(self):
        super().__init__(tasks=6)


class Unfinished(LampDomain):
    name = "unfinished"

    def tasks(self, split):
        return [] if split in ("test", "shift") else super().tasks(split)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lamps.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "faults.py").write_text(FAULTS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name in ("lamps", "faults"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def conformance(folder: Path, domain: str, settings: str = "{}") -> tuple[int, str]:
    """The suite as a user runs it, without any plug-in of pytest."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs",
         "metamem.domains.conformance"],
        cwd=folder,
        env={**os.environ, "METAMEM_DOMAIN": domain, "METAMEM_DOMAIN_SETTINGS": settings,
             "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_the_domain_of_the_guide_passes_by_name_alone(folder: Path) -> None:
    code, said = conformance(folder, "lamps:LampDomain", '{"tasks": 20}')
    assert code == 0, said
    assert "9 passed" in said


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("Unsteady", r"the task train-\d\d, played twice: .*expected .*press the .*, got .*press"),
        ("Shared", r"train-00 is in valid and in train"),
        (
            "Telling",
            r"must get 0.95 on average and got 0\.\d+: .*train-\d\d 0.*domains follow lamps",
        ),
        (
            "Lucky",
            r"random actions may get 0.5 of the oracle's 1.000 and got 0.750: .*train-\d\d 0",
        ),
        ("Leaky", r"worlds of the task train-\d\d were closed: \d+ files .* before, \d+ after"),
    ],
)
def test_a_failure_tells_task_expected_and_got(folder: Path, fault: str, told: str) -> None:
    code, said = conformance(folder, f"faults:{fault}")
    assert code == 1
    assert re.search(told, said), said


def test_without_a_name_it_says_how_to_give_one(folder: Path) -> None:
    code, said = conformance(folder, "")
    assert code == 1
    assert "no domain is named: set METAMEM_DOMAIN" in said


def test_follow_tells_whom_to_name(folder: Path, metamem) -> None:  # noqa: F811
    said = metamem("domains", "follow", "lamps:LampDomain")
    assert said.code == 0
    assert "reader, which the domain names, follows advice here." in said.out
    told = metamem("domains", "follow", "faults:ByChance", "--tasks", "8", "--json").json
    assert told["named"] == "random" and told["fittest"] in ("reader", "explorer")
    by_agent = {row["agent"]: row for row in told["agents"]}
    assert by_agent["reader"]["oracle"] == 1.0 > by_agent["reader"]["stranger"]
    assert "llm" in told["cannot_act"] and "relay" in told["cannot_act"]
    words = " ".join(metamem("domains", "follow", "faults:ByChance").out.split())
    assert f'Name {told["fittest"]} in the domain (agent = "{told["fittest"]}")' in words


def test_follow_says_so_where_nobody_follows_or_nothing_is_told(folder: Path, metamem) -> None:  # noqa: F811
    said = metamem("domains", "follow", "faults:Telling", "--agents", "random")
    assert "No agent gets far" in said.out
    said = metamem("domains", "follow", "lamps:LampDomain", "--agents", "explorer")
    assert "hardly ever succeeds (0.000)" in said.out and "was not played" in said.out
    said = metamem("domains", "follow", "faults:Silent")
    assert said.code == 2 and "the oracle has advice for 0 tasks" in said.err
    said = metamem("domains", "follow", "lamps:LampDomain", "--agents", "relay")
    assert said.code == 2 and "no agent can act" in said.err


def test_learn_tells_beforehand_that_nothing_can_be_promoted(folder: Path, metamem) -> None:  # noqa: F811
    said = metamem("learn", "faults:Few", "--designs", 1, "--no-control", "--home", folder / "h")
    assert said.code == 0
    told, began = said.err.index("Nothing can be promoted"), said.err.index("searching")
    assert told < began
    assert "30 tasks of valid, and few has 6" in " ".join(said.err.split())


def test_learn_with_an_empty_split_says_what_is_needed(folder: Path, metamem) -> None:  # noqa: F811
    said = metamem("learn", "faults:Unfinished", "--designs", 1, "--home", folder / "h")
    assert said.code == 2
    assert "too few tasks in test and shift" in said.err and "test 0, shift 0" in said.err
    assert "at least 2 tasks of train" in said.err and "30 of valid" in said.err
    assert not (folder / "h").exists()
    said = metamem(
        "evaluate",
        "no_memory",
        "--domain",
        "faults:Unfinished",
        "--split",
        "test",
        "--home",
        folder,
    )
    assert said.code == 2 and "'test' of unfinished has no tasks" in said.err
