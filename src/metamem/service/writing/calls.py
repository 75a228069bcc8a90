"""Calls of tools on their way into a scope: without secrets, cut to what is kept, each once.

Arguments are kept letter by letter, since a call may be done again; where something had to be taken
out or cut, the call says so and is never done again.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.core.secrets import INSTEAD, redact
from metamem.service import log, picture
from metamem.service.calls import CALLED, joined, read_call
from metamem.service.words import ToolCall
from metamem.service.writing.clean import clean
from metamem.service.writing.fields import NAME, Fields, identifier, moment
from metamem.store.engine import Execute

CALLS_AT_ONCE = 200  # of one event
HEAD, TAIL = 2500, 1500  # characters of a result or an error
ARGUMENT = 20_000  # characters of one argument, half of them at either end
ARGUMENTS = 200_000  # characters of all of them, as JSON
UNIQUE = 16  # characters of an id that no two calls have by chance, whatever their session
DEEPEST = 20
BEYOND = 10**4300  # whole numbers that Python neither reads nor writes as JSON
_MARGIN = 20_000  # characters that are searched beyond a cut: a secret cut in two is not recognised
_ENV = re.compile(r"(?:^|[\s/'\"=<>(])\.env(?:rc\b|\.(?!example|sample|template)\w+|(?![\w.-]))")
_SET = re.compile(
    r"(?m)((?:^|[\s'\"`/|#])(?:\d+\s*[:→|\t]\s*)?(?:export\s+)?[A-Za-z_]\w*[ \t]*=[ \t]*)"
    r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s'\"`]+)"
)
# `printf 'NAME=%s\n' value`.
_FILLED = re.compile(
    r"(\bprintf\s+(?:--\s+)?('|\")[^'\"\n]*=%s[^'\"\n]*\2\s+)(\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|<>]+)"
)


@dataclass(slots=True)
class _Cleaning:
    """Takes out what must not be kept of one call, and knows whether there was any."""

    on_env: bool = False  # it is about a file of settings, whose values are all taken for secrets
    touched: bool = False
    _lines: Fields = field(default_factory=Fields)

    def name(self, given: str) -> str:
        found = self._lines.line(given, NAME)
        self.touched = self.touched or bool(self._lines.kinds)
        return found

    def text(self, given: str, head: int, tail: int) -> str:
        """Both ends of a text. More is searched for secrets than is kept."""
        if len(given) <= head + tail:
            return self.exact(given)
        if len(given) <= head + tail + 2 * _MARGIN:
            whole = self.exact(given)
            begin, end = whole[:head], whole[-tail:] if len(whole) > head + tail else whole[head:]
        else:
            begin = self.exact(given[: head + _MARGIN])[:head]
            end = self.exact(given[-tail - _MARGIN :])[-tail:]
        left = len(given) - len(begin) - len(end)
        return f"{begin}\n[… {left} characters left out …]\n{end}" if left > 0 else begin + end

    def exact(self, given: str) -> str:
        """A text as it is, but for its secrets."""
        if self.on_env:
            for sets in (_FILLED, _SET):
                given, count = sets.subn(r"\1[secret: setting]", given)
                self.touched = self.touched or count > 0
        found = redact(given)
        seen = redact(clean(given))  # hidden characters can split a secret
        if set(seen.kinds) - set(found.kinds):
            found = seen
        # One may have been taken out before the call came here.
        self.touched = self.touched or bool(found.kinds) or bool(INSTEAD.search(given))
        return found.text

    def value(self, given: Any, near: str, deep: int = 0) -> Any:
        """A value of JSON. What stands before it tells some secrets: a name, or an option."""
        if deep > DEEPEST:
            self.touched = True
            return None
        if isinstance(given, Mapping):
            return {
                self.exact(str(name)): self.value(each, str(name), deep + 1)
                for name, each in given.items()
            }
        if isinstance(given, Sequence) and not isinstance(given, str):
            before = [near, *(each if isinstance(each, str) else "" for each in given)]
            pairs = zip(before, given, strict=False)
            return [self.value(each, name, deep + 1) for name, each in pairs]
        if given is None or isinstance(given, bool):
            return given
        if isinstance(given, str):
            kept = self.text(given, ARGUMENT // 2, ARGUMENT // 2)
            self.touched = self.touched or len(given) > ARGUMENT
            return kept if kept != given else self._by_name(given, near)
        if isinstance(given, int | float) and _is_number(given):
            return self._by_name(given, near)
        raise UsageError(f"an argument was expected that JSON has, not {type(given).__name__}")

    def _by_name(self, given: Any, near: str) -> Any:
        value = str(given)
        if not near or len(near) > NAME or len(value) > NAME * 4:
            return given
        own = set(redact(near).kinds)
        for told in (f'{near.lstrip("-")}="{value}"', f"{near} {value}", f"{near}: {value}"):
            kinds = [kind for kind in redact(told).kinds if kind not in own]
            if kinds:
                self.touched = True
                return f"[secret: {kinds[0]}]"
        return given


def _is_number(given: int | float) -> bool:
    """Whether JSON has it, and not only Python."""
    return isfinite(given) if isinstance(given, float) else abs(given) < BEYOND


def prepare_call(call: ToolCall, *, on_env: bool = False) -> dict[str, Any]:
    """A call as the log holds it. `on_env`: what is known of it already speaks of such a file."""
    if not isinstance(call.arguments, Mapping):
        raise UsageError("a call's arguments must be an object")
    cleaning = _Cleaning(on_env or speaks_of_env(call.arguments))
    arguments = cleaning.value(call.arguments, "")
    if len(canonical_json(arguments)) > ARGUMENTS:
        arguments, cleaning.touched = {}, True
    known_as = identifier(call.id)
    if not known_as:
        raise UsageError("a call needs an id", hint="the one that its host gave it")
    result = None if call.result is None else cleaning.text(call.result, HEAD, TAIL)
    return {
        "id": known_as,
        "tool": cleaning.name(call.tool),
        "arguments": arguments,
        "result": result,
        "error": cleaning.text(call.error, HEAD, TAIL),
        "failed": True if call.exit_code else call.failed,
        "exit_code": call.exit_code,
        "at": moment(call.at, "at"),
        "milliseconds": moment(call.milliseconds, "milliseconds"),
        "prompt": identifier(call.prompt),
        "group": identifier(call.group),
        "agent": identifier(call.agent),
        "redacted": cleaning.touched,
    }


def speaks_of_env(value: Any) -> bool:
    """Whether a file of settings is named somewhere in arguments."""
    if isinstance(value, str):
        return _ENV.search(value) is not None
    if isinstance(value, Mapping):
        return any(speaks_of_env(each) for each in value.values())
    return isinstance(value, list | tuple) and any(speaks_of_env(each) for each in value)


def calls_on_envs(execute: Execute, scope: int, session: str, calls: Sequence[str]) -> set[str]:
    """Those of some calls whose beginning, which is known, names a file of settings."""
    known = ((call, read_call(execute, scope, session, identifier(call))) for call in calls)
    return {call for call, row in known if row and speaks_of_env(row["arguments"])}


@dataclass(frozen=True, slots=True)
class Calling:
    """A session's calls on their way into one scope, in one transaction."""

    execute: Execute
    scope: int
    who: str
    session: str
    counts: dict[str, int]

    def enter(self, calls: Sequence[Mapping[str, Any]], rewound: Sequence[str] = ()) -> None:
        prompts = dict.fromkeys(map(identifier, rewound))
        gone = [prompt for prompt in prompts if self._stands(prompt)]
        new = self._new(calls)
        if not new and not gone:
            return
        body = {"session": self.session, "calls": new, "rewound": gone}
        event = log.append(self.execute, self.scope, CALLED, self.who, body)
        picture.apply(self.execute, event)

    def _new(self, calls: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """What adds something to what is known, also of calls that are given twice."""
        found: list[Mapping[str, Any]] = []
        seen: dict[str, dict[str, Any]] = {}
        for call in calls:
            known_as = call["id"]
            known = seen.get(known_as) or read_call(
                self.execute, self.scope, self.session, known_as
            )
            if known is None and self._is_copy(known_as):
                self.counts["known"] += 1
                continue
            after = {**call, "rewound": False} if known is None else joined(known, call)
            seen[known_as] = after
            if after == known:
                self.counts["known"] += 1
                continue
            self.counts["stored" if known is None else "joined"] += 1
            found.append(call)
        return found

    def _is_copy(self, known_as: str) -> bool:
        """Whether another session has the very same call: one that is forked or resumed begins with a
        copy of what was done before."""
        return len(known_as) >= UNIQUE and bool(
            self.execute(
                "SELECT 1 FROM calls WHERE scope = ? AND id = ? AND session <> ? LIMIT 1",
                (self.scope, known_as, self.session),
            )
        )

    def _stands(self, prompt: str) -> bool:
        rows = self.execute(
            "SELECT COUNT(*) FROM calls WHERE scope = ? AND session = ? AND prompt = ?"
            " AND rewound = 0",
            (self.scope, self.session, prompt),
        )
        self.counts["rewound"] += rows[0][0]
        return bool(prompt) and bool(rows[0][0])
