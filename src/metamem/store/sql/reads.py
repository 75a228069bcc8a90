"""The ledger of looks at what the search must not see."""

from metamem.store.records import ReadRecord
from metamem.store.sql.base import Part, insert


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

    def reads(self) -> list[ReadRecord]:
        with self._engine.reading() as execute:
            found = execute(
                "SELECT at, run_id, split, design_id, evaluation_id, purpose FROM reads"
                " ORDER BY seq"
            )
        return [ReadRecord(*columns) for columns in found]
