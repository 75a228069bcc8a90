"""Archives of released versions as small files: SQL text, with what was packed in it unpacked.

    python -m tests.store.packed archive.db tests/store/data/NAME.sql.xz

makes one; `unpack_archive` turns it back into the database it was.
"""

import lzma
import sqlite3
import sys
import zlib
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def unpack_archive(name: str, path: Path) -> None:
    """The archive of that name under `data`, as a database file."""
    database = sqlite3.connect(path)
    database.create_function("packed", 1, lambda content: zlib.compress(content))
    database.executescript(lzma.decompress((DATA / name).read_bytes()).decode())
    database.close()


def pack_archive(path: Path, file: Path) -> None:
    database = sqlite3.connect(path)
    lines = ["BEGIN;"]
    created = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
    objects = database.execute(created).fetchall()
    lines += [f"{sql};" for kind, _, sql in objects if kind == "table"]
    for kind, table, _ in objects:
        if kind == "table":
            for row in database.execute(f"SELECT * FROM {table}"):
                lines.append(f"INSERT INTO {table} VALUES ({', '.join(map(_literal, row))});")
    lines += [f"{sql};" for kind, _, sql in objects if kind != "table"]
    lines.append("COMMIT;")
    database.close()
    file.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        try:
            plain = zlib.decompress(value)
        except zlib.error:
            return f"X'{value.hex()}'"
        return f"packed(X'{plain.hex()}')"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


if __name__ == "__main__":
    pack_archive(Path(sys.argv[1]), Path(sys.argv[2]))
