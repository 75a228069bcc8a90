"""Vectors of pieces: made in the main process while others read on, and kept with the file.

What is embedded is not the text but what it is about: its name, where it stands, and the words that
stand in it, each once. Code is mostly grammar, which would drown them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import UsageError
from metamem.core.progress import Progress
from metamem.core.protocols import Embedder
from metamem.knowledge.database import Database, packed_vectors, set_about
from metamem.knowledge.pieces import Piece
from metamem.knowledge.words import outline
from metamem.models.api_embedder import ApiEmbedder
from metamem.models.embedders import open_embedder

NONE = "none"
OUTLINE = 1  # a change of what is embedded makes the vectors anew
_FILES = 64  # in one transaction


def embedder_of(name: str) -> Embedder | None:
    """An embedder that runs here; None where none is wanted."""
    if name == NONE:
        return None
    found = open_embedder(name)
    if isinstance(found, ApiEmbedder):
        raise UsageError(
            f"an index takes an embedder that runs on this machine, and {name} does not",
            hint="metamem models lists those that are installed",
        )
    return found


def identity(embedder: Embedder) -> str:
    """What must be equal for vectors to be compared."""
    return f"{embedder.fingerprint}#{OUTLINE}"


def settle(database: Database, embedder: Embedder | None) -> None:
    """From now on the vectors are this embedder's; those of another one are dropped."""
    mine = identity(embedder) if embedder else ""
    if database.about("embedder") != mine:
        with database.writing() as execute:
            execute("UPDATE files SET vectors = NULL WHERE vectors IS NOT NULL")
            set_about(execute, {"embedder": mine})


def embedded(path: str, pieces: Sequence[Piece], embedder: Embedder) -> bytes:
    """The vectors of a file's pieces, as they are kept."""
    texts = [outline(piece, path) for piece in pieces]
    return packed_vectors(_unit(embedder.embed(texts)) if texts else np.zeros((0, 1), np.float32))


def embed_missing(database: Database, embedder: Embedder, progress: Progress) -> int:
    """Make the vectors that are not there yet, of what was indexed without them or with others."""
    waiting = database.execute(
        "SELECT id, path FROM files WHERE vectors IS NULL AND left_out = '' ORDER BY id"
    )
    if not waiting:
        return 0
    progress.phase("embedding", len(waiting))
    made = 0
    for start in range(0, len(waiting), _FILES):
        part = waiting[start : start + _FILES]
        rows = []
        for file, path in part:
            pieces = _pieces(database, file)
            rows.append(embedded(path, pieces, embedder))
            made += len(pieces)
        with database.writing() as execute:
            for (file, _), vectors in zip(part, rows, strict=True):
                execute("UPDATE files SET vectors = ? WHERE id = ?", (vectors, file))
        progress.advance(len(part))
    return made


def _pieces(database: Database, file: int) -> list[Piece]:
    rows = database.execute(
        "SELECT kind, name, within, line, until FROM pieces WHERE file = ? ORDER BY number", (file,)
    )
    texts = database.texts(file)
    return [
        Piece(kind, name, within, line, until, text)
        for (kind, name, within, line, until), text in zip(rows, texts, strict=True)
    ]


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    made: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return made
