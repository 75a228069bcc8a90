"""The ledger of looks at what the search must not see."""

from metamem.store.records import ReadRecord
from metamem.store.sql.base import Part, insert, portion


class Reads(Part):
    def record_read(self, read: ReadRecord) -> None:
        columns = {
            "at": read.at,
            "run_id": read.run_id,
            "split": read.split,
            "design_id": read.design_id,
            "evaluation_id": read.evaluation_id,
            "purpose": read.purpose,
        }
        with self._engine.writing() as execute:
            insert(execute, "reads", columns)

    def reads(
        self, run_id: str | None = None, *, skip: int = 0, limit: int | None = None
    ) -> list[ReadRecord]:
        where, of_run = ("", []) if run_id is None else (" WHERE run_id = ?", [run_id])
        end, part = portion(skip, limit)
        with self._engine.reading() as execute:
            found = execute(
                "SELECT at, run_id, split, design_id, evaluation_id, purpose FROM reads"
                f"{where} ORDER BY seq{end}",
                [*of_run, *part],
            )
        return [ReadRecord(*columns) for columns in found]
