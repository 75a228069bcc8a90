"""Where the report of a run lies."""

import re
from pathlib import Path

from metamem.core.ids import content_id


def report_path(home: Path, run_id: str) -> Path:
    """Beside the archive. A name that is no good file name is replaced by its hash."""
    safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", run_id)
    return home / "reports" / f"{run_id if safe else content_id('report', run_id)}.html"
