"""Parts of metamem tried out, each in a process of its own: what dies or hangs takes nothing down."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from metamem.cli import attempt
from metamem.cli.attempt import Trial
from metamem.cli.findings import Finding
from metamem.core.progress import Progress
from metamem.core.system import cores, ending

SECONDS = 90.0  # for one trial; the slowest makes two games, which takes some ten seconds


def run(trials: Sequence[Trial], progress: Progress, seconds: float = SECONDS) -> list[Finding]:
    """Try everything, as many at once as there are cores; findings in the order given."""
    progress.phase("trying what is here", len(trials))

    async def all_of_them() -> list[Finding]:
        places = asyncio.Semaphore(cores())

        async def one(trial: Trial) -> Finding:
            async with places:
                found = await _tried(trial, seconds)
            progress.advance()
            return found

        return await asyncio.gather(*map(one, trials))

    return asyncio.run(all_of_them())


async def _tried(trial: Trial, seconds: float) -> Finding:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", attempt.__name__, trial.kind, trial.name, str(os.getpid())),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that it can be ended with all it started
    )
    try:
        async with asyncio.timeout(seconds):
            said, complaints = await process.communicate()
    except TimeoutError:
        found = f"it does not answer: nothing came of it in {seconds:.0f} s"
        return Finding(trial.what, "broken", found, trial.advice)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    try:
        return Finding(**json.loads(said))
    except (ValueError, TypeError):
        lines = complaints.decode(errors="replace").strip().splitlines()
        found = f"it died ({ending(process.returncode)}) {lines[-1] if lines else ''}".strip()
        return Finding(trial.what, "broken", found, trial.advice)
