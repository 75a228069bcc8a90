"""Worlds in a process of their own: reused, killed when they hang, and never a silent fault."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import EngineFault
from metamem.core.types import Observation
from metamem.domains.remote import RemoteWorld

FACTORY = "tests.domains.test_remote:make"


class Counter:
    def __init__(self, start: int) -> None:
        self.count = start

    def reset(self) -> Observation:
        print("noise from the engine")
        return Observation(f"{os.getpid()}", ("add",))

    def step(self, action: str) -> Observation:
        if action == "hang":
            time.sleep(60)
        if action == "die":
            os._exit(3)
        if action == "fail":
            raise RuntimeError("broken engine")
        self.count += 1
        return Observation(str(self.count), ("add",), self.count / 10, self.count >= 10)

    def close(self) -> None:
        pass


def make(data: Mapping[str, Any], seed: int) -> Counter:
    return Counter(data["start"] + seed)


def _children() -> set[str]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text().split()}


def test_a_world_elsewhere_plays_as_if_here_and_its_process_is_kept() -> None:
    first = RemoteWorld(FACTORY, {"start": 7}, 1)
    process = first.reset().text
    assert process != str(os.getpid())
    assert first.step("add") == Observation("9", ("add",), 0.9, False)
    assert first.step("add").done
    first.close()
    second = RemoteWorld(FACTORY, {"start": 0}, 0)
    assert second.reset().text == process
    other = RemoteWorld(FACTORY, {"start": 0}, 0)
    assert other.reset().text != process
    second.close()
    other.close()


@pytest.mark.parametrize(
    ("action", "reason"),
    [("hang", "no answer in time"), ("die", "it died"), ("fail", "broken engine")],
)
def test_what_an_engine_does_wrong_is_its_own_fault_and_its_process_ends(
    action: str, reason: str
) -> None:
    before = _children()
    world = RemoteWorld(FACTORY, {"start": 0}, 0, seconds=5.0)
    process = world.reset().text
    with pytest.raises(EngineFault, match=reason):
        world.step(action)
    with pytest.raises(EngineFault, match="closed"):
        world.step("add")
    world.close()
    assert process not in _children()
    assert _children() <= before | {process}
