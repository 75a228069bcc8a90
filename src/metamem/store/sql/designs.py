"""Designs: named by their content, so never changed."""

import re

from metamem.core.errors import DataError, UnknownName, UsageError
from metamem.core.ids import ID_LENGTH, SHORT
from metamem.core.types import Design
from metamem.store.codec import damaged
from metamem.store.engine import Execute, Value
from metamem.store.records import DesignRecord, utc_now
from metamem.store.sql.base import Part, insert_new, page, require

_ID = re.compile(f"[0-9a-f]{{1,{ID_LENGTH}}}")
_SHOWN = 5  # how many designs a message about an ambiguous prefix lists


class Designs(Part):
    def add_design(self, design: Design, *, created_by: str = "") -> bool:
        identifier = design.id
        try:
            design.source.encode()
        except UnicodeEncodeError as error:
            raise DataError(f"the design's source is not valid Unicode: {error}") from error
        columns: dict[str, Value] = {
            "id": identifier,
            "kind": design.kind,
            "source": design.source,
            "name": design.name,
            "created_by": created_by,
            "created_at": utc_now(),
        }
        with self._engine.writing() as execute:
            return insert_new(execute, "designs", columns)

    def find(self, prefix: str) -> str:
        with self._engine.reading() as execute:
            return self._find(execute, prefix)

    def design(self, prefix: str) -> Design:
        with self._engine.reading() as execute:
            identifier = self._find(execute, prefix)
            query = "SELECT source, kind, name FROM designs WHERE id = ?"
            design = Design(*execute(query, (identifier,))[0])
        if design.id != identifier:
            raise damaged(f"the design {identifier}", "its content does not match its id")
        return design

    def designs(self, *, after: str | None = None, limit: int | None = None) -> list[DesignRecord]:
        where, end, values = page("designs", after, limit)
        with self._engine.reading() as execute:
            if after is not None:
                require(execute, "designs", after, "design")
            found = execute(
                f"SELECT id, kind, name, created_by, created_at FROM designs WHERE {where} {end}",
                values,
            )
        return [DesignRecord(*columns) for columns in found]

    def _find(self, execute: Execute, prefix: str) -> str:
        given = prefix.lower()
        found = []
        if _ID.fullmatch(given):
            # A range instead of LIKE: it uses the index, and "g" comes after every hex digit.
            found = execute(
                "SELECT id, name FROM designs WHERE id >= ? AND id < ? ORDER BY id",
                (given, given + "g"),
            )
        if not found:
            ((count,),) = execute("SELECT COUNT(*) FROM designs")
            raise UnknownName(
                f"no design has an id that begins with {prefix!r}",
                hint=f"{self._engine.place} holds {count} designs",
            )
        if len(found) > 1:
            listed = [f"{key[: max(SHORT, len(given) + 4)]} {name}" for key, name in found[:_SHOWN]]
            more = ["..."] if len(found) > _SHOWN else []
            raise UsageError(
                f"{len(found)} designs have an id that begins with {prefix!r}",
                hint="say more of it: " + ", ".join(line.strip() for line in listed + more),
            )
        return str(found[0][0])
