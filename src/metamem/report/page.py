"""The report of a run: one HTML file that needs nothing else, not even a script."""

import os
import tempfile
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from metamem import __version__
from metamem.core import registry
from metamem.core.controls import spelled_out
from metamem.core.errors import UsageError
from metamem.core.figures import amount, chance
from metamem.core.ids import short
from metamem.report.gather import Story, gather
from metamem.report.headline import headline
from metamem.report.highlight import diff, highlight
from metamem.report.plots.differences import differences_plot
from metamem.report.plots.family import family_plot
from metamem.report.plots.forest import forest_plot
from metamem.report.plots.search import search_plot
from metamem.report.reproduce import beyond_options, command_line
from metamem.runs.table import advised, largest_costs
from metamem.store.archive import Archive


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
    story = gather(archive, run_id)
    environment = Environment(
        loader=PackageLoader("metamem.report"),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "short": short,
        "plain": registry.plain,
        "reward": story.scale.value,
        "gain": story.scale.gain,
        "amount": amount,
        "chance": chance,
        "moment": lambda at: f"{at[:16].replace('T', ' ')} UTC",
    }
    return environment.get_template("report.html").render(**_page(story))


def _harmless(value: Any) -> Any:
    if isinstance(value, Markup):
        return Markup(spelled_out(value))
    return spelled_out(value) if isinstance(value, str) else value


def _page(story: Story) -> dict[str, Any]:
    learned_id = story.learned.id if story.learned else None
    line = list(reversed(story.journal.lineage(learned_id))) if learned_id else []
    tables, explained = story.summary.tables, story.summary.explanation
    scale, code = story.scale, story.learned if story.kind == "code" else None
    return {
        "version": __version__,
        "story": story,
        "summary": story.summary,
        "headline": headline(story.state, story.summary, story.kind),
        "scale": scale,
        "learned_id": learned_id,
        "lineage": [story.journal.by_design[design] for design in line],
        "tables": tables,
        "advised": any(map(advised, tables.values())),
        "costs": largest_costs([row for rows in tables.values() for row in rows]),
        "parts": explained.parts if explained else (),
        "steps": {step.design: step for step in explained.steps} if explained else {},
        "search_plot": search_plot(
            story.journal.evaluated,
            story.control.evaluated,
            learned_id,
            rewards=scale,
            blind=story.blind,
        )
        if story.journal.evaluated
        else "",
        "family_plot": family_plot(story.journal, learned_id, story.names, scale)
        if story.journal.evaluated
        else "",
        "forest_plot": forest_plot(tables, scale),
        "differences": [
            (d, differences_plot(d.gains, d.kinds, d.against, scale))
            for d in story.differences
            if d.gains
        ],
        "code": highlight(code.source) if code else [],
        "changes": diff(story.parent.source, code.source) if code and story.parent else [],
        "command": command_line(story.run.config),
        "beyond": beyond_options(story.run.config),
    }
