"""The jail holds any guest, and says how it failed without knowing what it is for."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from metamem.sandbox.failures import GuestFailure
from metamem.sandbox.host import Program, Sandbox
from metamem.sandbox.limits import CallLimits, ProcessLimits
from metamem.sandbox.process import Process

ADDER = Program("tests.sandbox.adder:serve", ("tests.sandbox",), (), kinds=("overflow",))
CALL = CallLimits(cpu=1.0, questions=3)


@pytest.fixture
async def guest() -> AsyncIterator[Process]:
    sandbox = Sandbox(ADDER)
    yield await sandbox.spawn(ProcessLimits())
    await sandbox.close()


async def double(tool: str, data: Any) -> Any:
    assert tool == "number"
    return 2 * data


async def test_a_guest_that_is_no_design_is_served(guest: Process) -> None:
    assert await guest.call("add", "[1, 2, 3]", CALL) == 6
    assert await guest.call("ask", "3", CALL, double) == [0, 2, 4]


async def test_limits_belong_to_a_call(guest: Process) -> None:
    assert await guest.call("ask", "4", CallLimits(cpu=1.0, questions=4), double) == [0, 2, 4, 6]
    with pytest.raises(GuestFailure, match="the guest asked the host more than 3 times") as failure:
        await guest.call("ask", "4", CALL, double)
    assert failure.value.kind == "limit"


async def test_what_it_did_is_told_apart_from_what_it_says(guest: Process) -> None:
    with pytest.raises(GuestFailure, match=r"^no such sum$") as failure:
        await guest.call("overflow", "null", CALL)
    assert (failure.value.kind, failure.value.reported) == ("overflow", True)
    with pytest.raises(GuestFailure, match="did not say how") as failure:
        await guest.call("timeout", "null", CALL)  # no kind that a guest may claim
    assert (failure.value.kind, failure.value.reported) == ("protocol", False)
    with pytest.raises(GuestFailure, match=r"the guest used more than 0\.2 s of CPU") as failure:
        await guest.call("spin", "null", CallLimits(cpu=0.2))
    assert failure.value.kind == "timeout"


@pytest.mark.parametrize("each", [100, 0.1])
async def test_a_guest_that_sleeps_is_found_long_before_its_time_is_up(
    guest: Process, each: float
) -> None:
    assert await guest.call("sleep", '{"each": 1.5, "times": 1}', CALL) == [None]
    begun = time.monotonic()
    with pytest.raises(GuestFailure, match="the guest slept for more than 5 s") as failure:
        await guest.call("sleep", f'{{"each": {each}, "times": 1000}}', CallLimits(cpu=9.0))
    assert failure.value.kind == "wall"
    assert time.monotonic() - begun < 30


async def test_a_guest_that_waits_for_the_host_does_not_sleep(guest: Process) -> None:
    async def slow(tool: str, data: Any) -> Any:
        await asyncio.sleep(7)
        return data

    assert await guest.call("ask", "1", CALL, slow) == [0]


async def test_a_guest_that_was_closed_says_so(guest: Process) -> None:
    guest.kill()
    with pytest.raises(GuestFailure, match="is closed") as failure:
        await guest.call("add", "[1]", CALL)
    assert failure.value.kind == "closed"
