"""Failures that a host's hooks do not tell, read from the end of its transcript as it grows.

Codex says after a tool neither that it failed nor how a command ended; its rollout does. Only what is new
since the last look is read, and none of it is kept here but the beginnings of calls, in memory, until
their ends come.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from metamem.core.errors import MetamemError
from metamem.service.attach.events import About, ToolEnded
from metamem.service.importing import codex
from metamem.service.importing.lines import PACKED, Place, last, tail
from metamem.service.importing.transcript import Call

HOSTS = (codex.HOST,)
FIRST = 256_000  # bytes from the end that the first look at a transcript takes in
MOST = 4_000_000  # bytes of one look; of a file that grew by more, only the end is looked at
SESSIONS = 200
OPEN = 50  # calls of a session whose ends are waited for


@dataclass(slots=True)
class _Tail:
    place: Place
    begun: OrderedDict[str, Call] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)


class Tails:
    def __init__(self) -> None:
        self._lock = Lock()
        self._tails: OrderedDict[str, _Tail] = OrderedDict()

    def ended(self, about: About) -> list[ToolEnded]:
        """Calls of a session that have ended since the last look; at the first, the last of them."""
        if about.host not in HOSTS or not about.transcript or about.transcript.endswith(PACKED):
            return []
        path = Path(about.transcript)
        try:
            size = path.stat().st_size
            found, is_new = self._tail(path, size)
            with found.lock:
                if size - found.place.offset > MOST:
                    found.place = last(path, FIRST)
                calls = self._calls(path, found)
        except (OSError, MetamemError):
            return []
        return [_ended(about, call) for call in (calls[-1:] if is_new else calls)]

    def _tail(self, path: Path, size: int) -> tuple[_Tail, bool]:
        with self._lock:
            known = self._tails.get(str(path))
            found = known or _Tail(last(path, FIRST) if size > FIRST else Place())
            self._tails[str(path)] = found
            self._tails.move_to_end(str(path))
            while len(self._tails) > SESSIONS:
                self._tails.popitem(last=False)
            return found, known is None

    def _calls(self, path: Path, found: _Tail) -> list[Call]:
        reader, new = codex.Reader(), tail(path, found.place)
        for record in new.records():
            reader.feed(record)
        found.place = new.place
        ended = []
        for call in reader.thread.taken(0).calls:
            begun = found.begun.pop(call.id, None)
            whole = begun.joined(call) if begun else call
            if whole.result is None:
                found.begun[whole.id] = whole
            elif whole.tool:
                ended.append(whole)
        while len(found.begun) > OPEN:
            found.begun.popitem(last=False)
        return ended


def _ended(about: About, call: Call) -> ToolEnded:
    return ToolEnded(
        host=about.host,
        session=about.session,
        folder=about.folder,
        transcript=about.transcript,
        agent=about.agent,
        at=call.at,
        call=call.id,
        tool=call.tool,
        arguments=call.arguments,
        result=call.result,
        error=call.error,
        failed=call.failed,
        exit_code=call.exit_code,
        milliseconds=call.milliseconds,
    )
