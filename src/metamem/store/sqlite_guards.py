"""Guards as SQLite has them: triggers, whose names say what they guard and for whom."""

from metamem.store.engine import ACTIONS, FIRST, Execute, Guard
from metamem.store.sqlite_errors import GUARDED

_PREFIX = "append_only"


def guards(execute: Execute) -> set[Guard]:
    found = execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
    return {guard for name, table in found if (guard := _parsed(name, table)) is not None}


def put_on(guard: Guard) -> str:
    return (
        f"CREATE TRIGGER {_name(guard)} BEFORE {guard.action} ON {guard.table}"
        f" BEGIN SELECT RAISE(ABORT, '{GUARDED}'); END"
    )


def take_off(guard: Guard) -> str:
    return f"DROP TRIGGER {_name(guard)}"


def _name(guard: Guard) -> str:
    owner = "" if guard.component == FIRST else f"_{guard.component}"
    return f"{_PREFIX}{owner}_{guard.table}_{guard.action}"


def _parsed(name: str, table: str) -> Guard | None:
    for action in ACTIONS:
        end = f"_{table}_{action}"
        if name.startswith(_PREFIX) and name.endswith(end):
            owner = name.removeprefix(_PREFIX).removesuffix(end).removeprefix("_")
            return Guard(owner or FIRST, table, action)
    return None
