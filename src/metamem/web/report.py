"""The report of a run: one HTML file that needs nothing else, not even a script."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from metamem import __version__
from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, short
from metamem.store.archive import Archive
from metamem.web.controls import spelled_out
from metamem.web.figures import chance, percent, points
from metamem.web.gather import Story, gather
from metamem.web.headline import headline, ordered
from metamem.web.highlight import diff, highlight
from metamem.web.plots.differences import differences_plot
from metamem.web.plots.family import family_plot
from metamem.web.plots.forest import forest_plot
from metamem.web.plots.search import search_plot
from metamem.web.reproduce import beyond_options, command_line


def report_path(home: Path, run_id: str) -> Path:
    """Beside the archive. A name that is no good file name is replaced by its hash."""
    safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", run_id)
    return home / "reports" / f"{run_id if safe else content_id('report', run_id)}.html"


def write_report(archive: Archive, run_id: str, path: Path) -> None:
    """Write the report; readers see the old file or the new one, never half of one."""
    page = render_report(archive, run_id)
    draft = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(page.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o644)  # mkstemp's is for its owner alone
        Path(draft).replace(path)
    except OSError as error:
        if draft:
            Path(draft).unlink(missing_ok=True)
        raise UsageError(
            f"the report cannot be written to {path}: {error.strerror}",
            hint="give another --output",
        ) from error


def render_report(archive: Archive, run_id: str) -> str:
    environment = Environment(
        loader=PackageLoader("metamem.web"),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "short": short,
        "plain": registry.plain,
        "percent": percent,
        "points": points,
        "chance": chance,
        "moment": lambda at: f"{at[:16].replace('T', ' ')} UTC",
    }
    return environment.get_template("report.html").render(**_page(gather(archive, run_id)))


def _harmless(value: Any) -> Any:
    if isinstance(value, Markup):
        return Markup(spelled_out(value))
    return spelled_out(value) if isinstance(value, str) else value


def _page(story: Story) -> dict[str, Any]:
    learned_id = story.learned.id if story.learned else None
    line = list(reversed(story.journal.lineage(learned_id))) if learned_id else []
    tables = ordered(story.summary.get("tables", {}))
    explained = story.summary.get("explanation") or {}
    return {
        "version": __version__,
        "story": story,
        "summary": story.summary,
        "headline": headline(story.state, story.summary),
        "learned_id": learned_id,
        "lineage": [story.journal.by_design[design] for design in line],
        "tables": tables,
        "parts": explained.get("parts", ()),
        "steps": {step["design"]: step for step in explained.get("steps", ())},
        "search_plot": search_plot(story.journal.evaluated, story.control.evaluated, learned_id)
        if story.journal.evaluated
        else "",
        "family_plot": family_plot(story.journal, learned_id, story.names)
        if story.journal.evaluated
        else "",
        "forest_plot": forest_plot(tables),
        "differences": [
            (d, differences_plot(d.gains, d.kinds, d.against)) for d in story.differences if d.gains
        ],
        "code": highlight(story.learned.source) if story.learned else [],
        "changes": diff(story.parent.source, story.learned.source)
        if story.learned and story.parent
        else [],
        "command": command_line(story.run.config),
        "beyond": beyond_options(story.run.config),
    }
