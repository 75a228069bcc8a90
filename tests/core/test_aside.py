"""What waits does so beside the event loop, in order, and is carried out whoever is cancelled."""

import asyncio
import os
import threading

import pytest

from metamem.core.aside import aside


async def test_the_loop_goes_on_while_a_call_waits() -> None:
    """Were the call made in the loop, nobody could ever end its wait."""
    ended = threading.Event()
    waiting = asyncio.ensure_future(aside(ended.wait, timeout=60))
    await asyncio.sleep(0)
    ended.set()
    assert await waiting is True


async def test_calls_are_carried_out_in_the_order_they_were_handed_over() -> None:
    done: list[int] = []
    await asyncio.gather(*(aside(done.append, n) for n in range(50)))
    assert done == list(range(50))


async def test_errors_arrive() -> None:
    with pytest.raises(ZeroDivisionError):
        await aside(divmod, 1, 0)


async def test_a_call_is_carried_out_though_its_caller_is_cancelled() -> None:
    begin, done = threading.Event(), []

    def work(name: str) -> None:
        assert begin.wait(60)
        done.append(name)

    tasks = [asyncio.ensure_future(aside(work, name)) for name in ("first", "second")]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    begin.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
    assert done == ["first", "second"]


async def test_a_forked_child_has_a_thread_of_its_own() -> None:
    await aside(len, "")
    child = os.fork()
    if child == 0:
        os._exit(asyncio.new_event_loop().run_until_complete(aside(len, "seven!!")))
    status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status[1]) == 7
