"""How soon a session is looked at again.

When a turn or a session ends, at once. While tools are being used, now and then: all of a session is read
for what is secret in it, and that must not be done for every call.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from metamem.service.attach.spool import Pointer

# The names of hosts' events that come with every use of a tool.
OF_TOOLS = frozenset(
    (
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "BeforeTool",
        "AfterTool",
        "tool.execute.before",
        "tool.execute.after",
        "message.part.updated",
    )
)
LEAST = 5.0  # seconds between two looks at the same session
SHARE = 20.0  # times as long as a look took, until the next
SESSIONS = 1000


class Pace:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next: OrderedDict[tuple[str, str, str], float] = OrderedDict()

    def due(self, pointer: Pointer) -> bool:
        return pointer.event not in OF_TOOLS or self._clock() >= self._next.get(_key(pointer), 0.0)

    @contextmanager
    def looking(self, pointer: Pointer | None) -> Iterator[None]:
        begun = self._clock()
        yield
        if pointer is None:
            return
        now = self._clock()
        self._next[_key(pointer)] = now + max(LEAST, SHARE * (now - begun))
        self._next.move_to_end(_key(pointer))
        while len(self._next) > SESSIONS:
            self._next.popitem(last=False)


def _key(pointer: Pointer) -> tuple[str, str, str]:
    return pointer.host, pointer.session, pointer.transcript
