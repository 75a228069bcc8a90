"""How the content of experiments is erased, by kind of what holds it."""

from collections.abc import Mapping

from metamem.store.engine import Execute
from metamem.store.schema import Eraser, Thing
from metamem.store.sql.calls import delete_calls

CALL = "call"  # erased with its run


def _deleting(statement: str) -> Eraser:
    def erase(execute: Execute, identifier: str) -> list[Thing]:
        execute(statement, (identifier,))
        return []

    return erase


def _run(execute: Execute, identifier: str) -> list[Thing]:
    return [(CALL, key) for key in delete_calls(execute, identifier)]


ERASERS: Mapping[str, Eraser] = {
    "collection": _deleting("DELETE FROM collections WHERE id = ?"),
    "blob": _deleting("DELETE FROM blobs WHERE id = ?"),
    "evaluation": _deleting("DELETE FROM traces WHERE evaluation_id = ?"),
    "run": _run,
}
