"""A recorded case once more: as it was recorded, twice, and by a tool, in trees that began alike.

The tree is made from the session's snapshot: a repository of our own that reads the recorded one's objects
and nothing else of it. What the session did before the case is done again as recorded. Then the case is
replayed in copies of that tree, every time in the workspace jail, without a network. Whether a case can be
replayed is decided without the tool: it must end as recorded, and the same way twice. After that whatever
is not equal counts against the tool.
"""

import asyncio
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from metamem.core.scratch import private_folder
from metamem.foundry.tools.origin import NotReplayable, origin
from metamem.foundry.tools.redoing import begun, redoing
from metamem.foundry.tools.tool import Case, Tool
from metamem.foundry.tools.trial import Budget, EndsOtherwise, Trial
from metamem.foundry.tools.verdict import Replayed
from metamem.foundry.words import Trace

KIND = "replay"  # of the folders that are made for it
_REFUSED = 128  # the exit code of git where nobody has told it a name, among others


class Replayer:
    """Replays cases, a few at once. Belongs to one event loop."""

    def __init__(self, budget: Budget | None = None, scratch: Path | None = None) -> None:
        """`scratch` is where folders are made, and unmade; the system's place where left out."""
        self.budget = budget or Budget()
        self._scratch = str(scratch) if scratch is not None else None
        self._turn = asyncio.Semaphore(self.budget.at_once)

    async def replay(
        self, tool: Tool, case: Case, values: Mapping[str, Any] | str
    ) -> tuple[Replayed, bool]:
        """How a case came out, and whether that will be so another time.

        A text in the place of the values says why the tool cannot do the case: then nothing but
        whether the case can be replayed is left to find out.
        """
        async with self._turn:
            try:
                why = await self._replayed(tool, case, values)
            except NotReplayable as no:
                return Replayed(case.id, None, str(no)), no.lasting
        return Replayed(case.id, not why, why), True

    async def _replayed(self, tool: Tool, case: Case, values: Mapping[str, Any] | str) -> str:
        snapshot = begun(case.trace)
        found = await asyncio.to_thread(origin, snapshot)
        again = redoing(case, found)
        for identity in _identities(case.trace, found.identity):
            with private_folder(KIND, self._scratch, _removed) as place:
                trial = Trial(self.budget, place, snapshot, found, again, identity)
                try:
                    return await trial.all(tool, values)
                except EndsOtherwise as no:
                    otherwise = no
                finally:
                    await asyncio.to_thread(_emptied, place)
        raise otherwise


def _identities(trace: Trace, identity: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    """Under which name git may have been at work. People commit under theirs; where nobody had told
    git any, a session shows that by failing, and must fail again."""
    if not identity:
        return ({},)
    unnamed = any(use.failed and use.exit_code == _REFUSED for use in trace.uses)
    return ({}, identity) if unnamed else (identity, {})


def _removed(folder: Path) -> None:
    """A folder gone, whatever rights somebody took from what lies in it."""

    def again(function: Callable[..., Any], path: str, _: Any) -> None:
        with suppress(OSError):  # what is left is swept up by the next one
            for place in (Path(path).parent, Path(path)):
                if stat.S_ISDIR(place.lstat().st_mode):
                    place.chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=again)


def _emptied(folder: Path) -> None:
    for inner in folder.iterdir():
        if inner.is_dir():
            _removed(inner)
