"""The whole archive as files that people and other programs can read."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from metamem.core.errors import Erased, StoreError, UsageError
from metamem.core.types import Evaluation
from metamem.store.archive import Archive
from metamem.store.experiments import EXPERIMENTS
from metamem.store.records import DesignRecord

T = TypeVar("T")


BLOBS = "blobs"


def export_archive(archive: Archive, folder: Path) -> tuple[str, ...]:
    """Write all experiments but blobs into a new folder, which appears whole or not at all.

    Returns what the archive holds and the export does not: blobs, and other components by their
    names. `export.json` in the folder says the same.

    A writer may go on meanwhile. What refers to other things is read before them, so no reference
    in the export leads nowhere, but to what was erased.
    """
    folder = folder.absolute()
    if folder.exists():
        raise UsageError(f"{folder} is there already", hint="name a new folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            left_out = _write_all(archive, draft)
            draft.chmod(0o755)  # mkdtemp's is for its owner alone
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft)
            raise
    except OSError as error:
        raise StoreError(f"the export to {folder} failed: {error}") from error
    return left_out


def _write_all(archive: Archive, folder: Path) -> tuple[str, ...]:
    _lines(folder / "reads.jsonl", map(asdict, archive.reads()))
    _lines(folder / "promotions.jsonl", map(asdict, archive.promotions()))
    _lines(folder / "erasures.jsonl", map(asdict, archive.erasures()))

    runs = archive.runs()
    journals = chain.from_iterable(archive.proposals(run.id) for run in runs)
    _lines(folder / "proposals.jsonl", map(asdict, journals))
    _lines(folder / "runs.jsonl", map(asdict, runs))

    evaluations = archive.evaluations()
    _lines(folder / "evaluations.jsonl", map(_evaluation, evaluations))
    (folder / "traces").mkdir()
    for evaluation in evaluations:
        if played := _unless_erased(archive.traces, evaluation.id):
            lines = ({**asdict(trace.case), **trace.episode.to_json()} for trace in played)
            _lines(folder / "traces" / f"{evaluation.id}.jsonl", lines)

    _lines(folder / "calls.jsonl", map(asdict, archive.calls()))
    _lines(folder / "spending.jsonl", map(asdict, archive.spending()))

    collected = ((name, _unless_erased(archive.collection, name)) for name in archive.collections())
    _lines(
        folder / "collections.jsonl",
        (
            {"id": name, "episodes": [e.to_json() for e in episodes]}
            for name, episodes in collected
            if episodes is not None
        ),
    )

    designs = archive.designs()
    _lines(folder / "designs.jsonl", map(_about, designs))
    (folder / "designs").mkdir()
    for record in designs:
        # Bytes as they are: no newline in a design may change, or its id would not match.
        source = archive.design(record.id).source.encode()
        (folder / _design_file(record)).write_bytes(source)

    components = archive.components()
    left_out = (BLOBS, *sorted(set(components) - {EXPERIMENTS.name}))
    about = {"versions": dict(components), "left_out": left_out}
    (folder / "export.json").write_text(json.dumps(about, indent=2) + "\n")
    return left_out


def _unless_erased(read: Callable[[str], T], identifier: str) -> T | None:
    try:
        return read(identifier)
    except Erased:
        return None


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "id": evaluation.id,
        "planned": evaluation.planned,
        "fingerprint": evaluation.fingerprint.to_json(),
        "rows": [asdict(row) for row in evaluation.rows],
    }


def _about(record: DesignRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "kind": record.kind,
        "created_by": record.created_by,
        "created_at": record.created_at,
        "file": _design_file(record),
    }


def _design_file(record: DesignRecord) -> str:
    return f"designs/{record.id}.{'py' if record.kind == 'code' else 'json'}"


def _lines(file: Path, records: Iterable[Mapping[str, Any]]) -> None:
    # What UTF-8 cannot hold is written as the escape that JSON has for it.
    with file.open("w", encoding="utf-8", errors="backslashreplace") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
