"""Questions to models: every sending, what became of it, and the replies worth keeping."""

import zlib
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from typing import Any

from metamem.core.calls import (
    ATTEMPT_OUTCOMES,
    AttemptEnd,
    AttemptRecord,
    CallRecord,
    Spending,
)
from metamem.core.chat import Usage
from metamem.core.errors import StoreError
from metamem.store.codec import damaged, dump, finite, load, whole
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import (
    Part,
    insert_new,
    insert_once,
    is_erased,
    one_of,
    page,
    refuse_erased,
    require,
)

_AT_ONCE = 200  # names in one query


class Calls(Part):
    def begin_attempt(self, attempt: AttemptRecord) -> int:
        columns: dict[str, Value] = {
            "call_id": attempt.key,
            "run_id": attempt.run_id,
            "role": attempt.role,
            "model": attempt.model,
            "design_id": attempt.design_id,
            "task_id": attempt.task_id,
            "reserved": whole(attempt.reserved, "the reserve"),
            "reserved_money": _money(attempt.reserved_money, "the reserve of money"),
            "at": attempt.at,
        }
        marks = ", ".join("?" * len(columns))
        with self._engine.writing() as execute:
            refuse_erased(execute, "run", attempt.run_id)
            ((number,),) = execute(
                f"INSERT INTO model_attempts ({', '.join(columns)}) VALUES ({marks}) RETURNING seq",
                tuple(columns.values()),
            )
        return int(number)

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None:
        one_of(end.outcome, ATTEMPT_OUTCOMES, "outcome of an attempt")
        content: dict[str, Value] = {
            "outcome": end.outcome,
            **_usage(end.usage),
            "money": _money(end.money, "the price"),
            "detail": end.detail,
            "seconds": finite(end.seconds, "the seconds"),
        }
        with self._engine.writing() as execute:
            found = execute("SELECT run_id FROM model_attempts WHERE seq = ?", (number,))
            if not found:
                raise StoreError(f"there is no attempt {number} in the archive")
            insert_once(
                execute,
                "model_attempt_ends",
                {"attempt": number},
                content,
                f"the end of attempt {number}",
            )
            # A run that was erased meanwhile keeps what the call cost, but not what it said.
            if call is not None and not is_erased(execute, "run", found[0][0]):
                _put_call(execute, call)

    def call(self, key: str) -> CallRecord | None:
        with self._engine.reading() as execute:
            refuse_erased(execute, "call", key)
            found = _calls(execute, "id = ?", "", key)
        return found[0] if found else None

    def calls(
        self,
        design_id: str | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[CallRecord]:
        where, end, values = page("model_calls", after, limit)
        if design_id is not None:
            where, values = f"design_id = ? AND {where}", [design_id, *values]
        with self._engine.reading() as execute:
            if after is not None:
                require(execute, "model_calls", after, "call")
            return _calls(execute, where, end, *values)

    def spending(self, run_id: str | None = None, *, by_task: bool = False) -> list[Spending]:
        where = "" if run_id is None else "WHERE run_id = ?"
        task = "task_id" if by_task else "''"
        with self._engine.reading() as execute:
            found = execute(
                f"SELECT run_id, role, model, design_id, {task} {_SPENDING} {where}"
                f" GROUP BY run_id, role, model, design_id, {task} ORDER BY MIN(seq)",
                () if run_id is None else (run_id,),
            )
        return [_spending(*row) for row in found]


def _spending(
    run_id: str, role: str, model: str, design_id: str, task_id: str, *numbers: Any
) -> Spending:
    counts, tokens, rest = numbers[:5], numbers[5:9], numbers[9:]
    attempts, answered, failed, uncertain, in_flight = map(int, counts)
    reserved, money, unpriced, seconds = rest
    return Spending(
        run_id=run_id,
        role=role,
        model=model,
        design_id=design_id,
        task_id=task_id,
        attempts=attempts,
        answered=answered,
        failed=failed,
        uncertain=uncertain,
        in_flight=in_flight,
        usage=Usage(*map(int, tokens)),
        reserved=int(reserved),
        money=float(money),
        unpriced=int(unpriced),
        seconds=float(seconds),
    )


def _sum(expression: str) -> str:
    return f"COALESCE(SUM({expression}), 0)"


def _count(condition: str) -> str:
    return _sum(f"CASE WHEN {condition} THEN 1 ELSE 0 END")


_OPEN = "outcome IS NULL"
_UNCERTAIN = "outcome = 'uncertain'"
_SPENDING = f""", COUNT(*), {_count("outcome = 'answered'")}, {_count("outcome = 'failed'")},
    {_count(_UNCERTAIN)}, {_count(_OPEN)},
    {_sum("input")}, {_sum("output")}, {_sum("cached")}, {_sum("reasoning")},
    {_sum(f"CASE WHEN {_OPEN} OR {_UNCERTAIN} THEN reserved ELSE 0 END")},
    {_sum(f"CASE WHEN {_OPEN} OR {_UNCERTAIN} THEN reserved_money ELSE money END")},
    {_count("outcome = 'answered' AND money IS NULL")}, {_sum("seconds")}
    FROM model_attempts LEFT JOIN model_attempt_ends ON attempt = seq"""


def _usage(usage: Usage) -> dict[str, Value]:
    return {name: whole(count, f"the tokens of {name}") for name, count in asdict(usage).items()}


def _money(value: float | None, what: str) -> float | None:
    return None if value is None else finite(value, what)


def _put_call(execute: Execute, call: CallRecord) -> None:
    refuse_erased(execute, "call", call.key)
    names = [[speaker, _name(text)] for speaker, text in call.turns]
    there = _there(execute, {name for _, name in names})
    for (_, name), (_, text) in zip(names, call.turns, strict=True):
        if name not in there:
            insert_new(execute, "model_texts", {"id": name, "content": _pack(text)})
            there.add(name)
    content: dict[str, Value] = {
        "role": call.role,
        "model": call.model,
        "design_id": call.design_id,
        "task_id": call.task_id,
        "turns": _pack(dump(names, "the turns of a call")),
        "reply": _pack(call.reply),
        **_usage(call.usage),
    }
    what = f"the call {call.key}"
    insert_once(execute, "model_calls", {"id": call.key}, content, what, _same)


def delete_calls(execute: Execute, run_id: str) -> list[str]:
    """Delete what models were asked in a run and said, and the texts that no other call says."""
    found = execute(
        "SELECT DISTINCT id FROM model_calls JOIN model_attempts ON call_id = id WHERE run_id = ?",
        (run_id,),
    )
    keys = [key for (key,) in found]
    texts: set[str] = set()
    for key in keys:
        texts |= _texts(execute, "id = ?", key)
        execute("DELETE FROM model_calls WHERE id = ?", (key,))
    if texts:
        for name in texts - _texts(execute, "1 = 1"):
            execute("DELETE FROM model_texts WHERE id = ?", (name,))
    return keys


def _texts(execute: Execute, where: str, *values: str) -> set[str]:
    """The names of the texts that some calls say."""
    found = execute(f"SELECT id, turns FROM model_calls WHERE {where}", values)
    return {
        name for key, turns in found for _, name in load(_unpack(turns, key), f"the call {key}")
    }


@lru_cache(maxsize=4096)
def _name(text: str) -> str:
    """A conversation says most of its texts again with every call."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _there(execute: Execute, names: set[str]) -> set[str]:
    """Those of some texts that are kept already."""
    found: set[str] = set()
    several = sorted(names)
    for start in range(0, len(several), _AT_ONCE):
        part = several[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        rows = execute(f"SELECT id FROM model_texts WHERE id IN ({marks})", part)
        found.update(name for (name,) in rows)
    return found


def _calls(execute: Execute, where: str, end: str, *values: Value) -> list[CallRecord]:
    found = execute(
        "SELECT id, role, model, design_id, task_id, turns, reply, input, output, cached, reasoning"
        " FROM model_calls"
        f" WHERE {where} {end}",
        values,
    )
    return [
        CallRecord(
            key,
            role,
            model,
            design_id,
            task_id,
            _turns(execute, turns, key),
            _unpack(reply, key),
            Usage(*tokens),
        )
        for key, role, model, design_id, task_id, turns, reply, *tokens in found
    ]


def _turns(execute: Execute, packed: bytes, key: str) -> tuple[tuple[str, str], ...]:
    turns = []
    for speaker, name in load(_unpack(packed, key), f"the call {key}"):
        found = execute("SELECT content FROM model_texts WHERE id = ?", (name,))
        if not found:
            raise damaged(f"the call {key}", "a text of it is missing")
        turns.append((speaker, _unpack(found[0][0], key)))
    return tuple(turns)


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpack(content: bytes, key: str) -> str:
    try:
        return zlib.decompress(content).decode("utf-8", "surrogatepass")
    except (zlib.error, TypeError, UnicodeDecodeError) as error:
        raise damaged(f"the call {key}", error) from error


def _same(there: Any, given: Any) -> bool:
    """Equal once unpacked: another build of zlib may pack the same text otherwise."""
    if isinstance(given, bytes):
        return zlib.decompress(there) == zlib.decompress(given)
    return bool(there == given)
