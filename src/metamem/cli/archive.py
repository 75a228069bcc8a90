"""metamem archive: every design that was ever tried, where it came from, and its code."""

import difflib
import sys
from collections.abc import Mapping, Sequence
from json import dumps as to_json
from json import loads as json_of
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.syntax import Syntax
from rich.text import Text
from rich.tree import Tree

from metamem.cli import options as o
from metamem.cli.parts import existing_archive
from metamem.cli.scales import Scales, score_column
from metamem.cli.screen import out, print_json, print_table, say, visible
from metamem.cli.stages import story
from metamem.core.controls import spelled_out
from metamem.core.errors import UnknownName, UsageError
from metamem.core.figures import Scale
from metamem.core.ids import short
from metamem.core.types import Design, Evaluation
from metamem.promotion.under import Under
from metamem.report.journal import Journal
from metamem.runs.config import learns
from metamem.runs.replay import told
from metamem.runs.summary import Summary
from metamem.store.archive import Archive, ProposalRecord
from metamem.store.records import PromotionRecord

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Every design that was tried, where it came from, and its code.",
)
DesignId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="A design's id or the start of it, a human design's name, or a Python file.",
        show_default=False,
    ),
]


@app.command("list")
def list_designs(
    run: Annotated[str, typer.Option(metavar="NAME", help="Only the designs of one run.")] = "",
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """List designs with their scores."""
    with existing_archive(home) as archive:
        rows = _of_run(archive, run) if run else _of_all(archive)
        scales = Scales(archive)
        scale = _summary(archive, run).scale if run else None
    if json:
        print_json([{n: v for n, v in row.items() if n != "domain"} for row in rows])
        return
    if not rows:
        say("The archive holds no design yet.")
        return
    heading, scores = score_column(
        [
            None if row["score"] is None else (scale or scales.of(row["domain"]), row["score"])
            for row in rows
        ]
    )
    shown = [
        (short(row["id"]), row["name"], row["by"], score, row["on"])
        for row, score in zip(rows, scores, strict=True)
    ]
    print_table(("id", "name", "made by", heading, "on"), shown, numeric=(heading,))


@app.command(epilog="[bold]Example[/bold]\n\nmetamem archive show 3f9ac2d1 --code > my_memory.py\n")
def show(
    design: DesignId,
    code: Annotated[bool, typer.Option("--code", help="The source alone, as it is.")] = False,
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """Show a design: its code, its parents, how it came about, its evaluations."""
    with existing_archive(home) as archive:
        found = _find(archive, design)
        made = [] if code else _proposals(archive, found.id)
        evaluations = [] if code else archive.evaluations(design_id=found.id)
        decided = [] if code else [p for p in archive.promotions() if p.subject.id == found.id]
        scales = Scales(archive)
        erased = {e.id: archive.erasure("evaluation", e.id) for e in evaluations}
    if code:
        sys.stdout.buffer.write(found.source.encode())
        return
    if json:
        print_json(
            {
                "id": found.id,
                "name": found.name,
                "kind": found.kind,
                "proposals": made,
                "promotions": [_decided(entry) for entry in decided],
                "evaluations": [
                    {**_evaluated(e), "replayable": erased[e.id] is None} for e in evaluations
                ],
                "source": found.source,
            }
        )
        return
    console = out()
    console.print(Text.assemble(("design ", "bold"), found.id, visible(f"  {found.name}")))
    for proposal in made:
        parents = ", ".join(short(p) for p in proposal.parents)
        origin = f" from {parents}" if parents else ""
        say(f"{proposal.run_id}, number {proposal.ordinal}: {proposal.operator}{origin}")
        say(f"  {proposal.note}")
        if proposal.reason:
            say(f"  {proposal.status}: {proposal.reason}")
        for line in story(proposal.evidence.get("stages", {})):
            say(f"  {line}")
    for entry in decided:
        under = Under.of(entry.evidence)
        learned = f", learned under {under.told}" if under.differs else ""
        say(f"{entry.decision} by {entry.decided_by} in {entry.place}{learned}")
    _print_scores([_evaluated(e) for e in evaluations if e.rows], scales)
    for evaluation in evaluations:
        if gone := erased[evaluation.id]:
            say(f"{evaluation.fingerprint.split}: {told(gone)}")
    say("")
    language = "python" if found.kind == "code" else "json"
    plain = Syntax("", language, theme="ansi_dark", background_color="default")
    # As it is, to be copied: no numbers, nothing cut off, no breaks that are not in the source.
    console.print(plain.highlight(spelled_out(_readable(found))), soft_wrap=True, end="")


def _readable(design: Design) -> str:
    """Code as it is; values a line each."""
    if design.kind == "code":
        return design.source
    return f"{to_json(json_of(design.source), indent=2)}\n"


def _print_scores(scores: Sequence[dict[str, Any]], scales: Scales) -> None:
    """Under which conditions the design got which score: nothing else makes it a figure."""
    if not scores:
        return
    say("")
    heading, shown = score_column([(scales.of(s["domain"]), s["mean"]) for s in scores])
    rows: list[tuple[str, ...]] = [
        (
            score["domain"],
            ", ".join(each for each in (score["split"], _apart(score)) if each),
            str(score["seed"]),
            f"{score['cases']} of {score['planned']}",
            mean,
            score["agent"],
            ", ".join(f"{role}: {model}" for role, model in score["models"].items()) or "none",
        )
        for score, mean in zip(scores, shown, strict=True)
    ]
    columns = ["domain", "split", "seed", "cases", heading, "agent", "models"]
    if not any(score["agent"] for score in scores):  # nobody acts where parameters are set
        place = columns.index("agent")
        columns.pop(place)
        rows = [row[:place] + row[place + 1 :] for row in rows]
    print_table(columns, rows, numeric=("seed", "cases", heading))


@app.command()
def tree(
    run: Annotated[str, typer.Argument(help="Which run; the newest where left out.")] = "",
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """Show who descends from whom in a run, with the scores on train."""
    with existing_archive(home) as archive:
        run = run or _newest(archive)
        summary = _summary(archive, run)
        learned = summary.learned
        journal = Journal.read(archive, run)
        names = {d.id: d.name for d in archive.designs()}
    if json:
        print_json(
            {
                "run": run,
                "learned": learned,
                "designs": [
                    {
                        "id": p.design_id,
                        "parents": p.parents,
                        "operator": p.operator,
                        "estimate": p.estimate,
                    }
                    for p in journal.evaluated
                ],
            }
        )
        return
    lineage = set(journal.lineage(learned)) if learned else set()
    root = Tree(Text(f"run {run}: {summary.scale.heading} on train; (…) raced out, an estimate"))
    _grow(root, journal, journal.roots, names, lineage, summary.scale)
    out().print(root)


@app.command()
def diff(a: DesignId, b: DesignId, home: o.Home = None) -> None:
    """Show what changed from design A to design B, as a unified diff."""
    with existing_archive(home) as archive:
        old, new = _find(archive, a), _find(archive, b)
    lines = difflib.unified_diff(
        _readable(old).splitlines(),
        _readable(new).splitlines(),
        old.name or short(old.id),
        new.name or short(new.id),
        lineterm="",
    )
    console = out()
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        console.print(visible(line, colours.get(line[:1], "")), soft_wrap=True)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A new folder.", show_default=False)],
    home: o.Home = None,
) -> None:
    """Write the whole archive as files that people and other programs can read."""
    from metamem.store.export import export_archive

    with existing_archive(home) as archive:
        left_out = export_archive(archive, folder)
    missing = f"; not in it: {', '.join(left_out)}" if left_out else ""
    say(f"exported to {folder}{missing}")


def _find(archive: Archive, name: str) -> Design:
    from metamem.api import find_design

    return find_design(name, archive)


def _newest(archive: Archive) -> str:
    runs = [r.id for r in archive.runs() if learns(r)]
    if not runs:
        raise UsageError("the archive holds no run yet")
    return runs[-1]


def _summary(archive: Archive, run: str) -> Summary:
    """Of a run, or of the one whose control it is."""
    whole = archive.run(run).config.get("control_of", run)
    return Summary.from_json(archive.run(whole).summary)


def _proposals(archive: Archive, design_id: str) -> list[ProposalRecord]:
    return [
        p for run in archive.runs() for p in archive.proposals(run.id) if p.design_id == design_id
    ]


def _evaluated(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "id": evaluation.id,
        "split": evaluation.fingerprint.split,
        "seed": evaluation.fingerprint.seed,
        "domain": evaluation.fingerprint.domain,
        "agent": evaluation.fingerprint.agent,
        "models": dict(evaluation.fingerprint.models),
        "tasks": evaluation.fingerprint.rules.get("tasks"),  # where only some were played
        "experience": evaluation.fingerprint.rules.get("experience", "whole"),
        "conditions": evaluation.fingerprint.conditions,
        "cases": len(evaluation.rows),
        "planned": evaluation.planned,
        "mean": evaluation.reward,
    }


def _apart(rules: Mapping[str, Any]) -> str:
    """What makes a score another figure than that of all tasks after all that was collected."""
    given = rules.get("experience", "whole")
    told = {"whole": "", "none": "no experience"}.get(given, f"{given} experience")
    some = f"{rules['tasks']} tasks" if rules.get("tasks") else ""
    return ", ".join(each for each in (some, told) if each)


def _decided(entry: PromotionRecord) -> dict[str, Any]:
    return {
        "decision": entry.decision,
        "decided_by": entry.decided_by,
        "place": entry.place,
        "at": entry.at,
        "learned_under": Under.of(entry.evidence),
    }


def _of_run(archive: Archive, run: str) -> list[dict[str, Any]]:
    known = {r.id for r in archive.runs()}
    if run not in known:
        raise UnknownName(f"no run called {run!r}", hint=f"known: {', '.join(sorted(known))}")
    names = {d.id: d.name for d in archive.designs()}
    return [
        {
            "id": p.design_id,
            "name": names.get(p.design_id, ""),
            "by": p.operator,
            "score": p.estimate["mean"] if p.estimate else None,
            "on": "train" if p.estimate else p.reason,
        }
        for p in archive.proposals(run)
        if p.design_id is not None
    ]


def _of_all(archive: Archive) -> list[dict[str, Any]]:
    """Each design with the evaluation that can best be compared with those of others: with all that was
    collected, of all tasks if there is one; the first on train, which the search has of every design,
    else the newest."""
    newest: dict[str, Evaluation] = {}
    for each in archive.evaluations():
        before = newest.get(each.design)
        if not each.complete or each.fingerprint.rules.get("experience", "whole") != "whole":
            continue
        if before is None or _comparable(each) > _comparable(before) or _same_kind(each, before):
            newest[each.design] = each
    rows = []
    for record in archive.designs():
        evaluation = newest.get(record.id)
        rows.append(
            {
                "id": record.id,
                "name": record.name,
                "by": record.created_by,
                "score": evaluation.reward if evaluation else None,
                "on": _played_on(evaluation) if evaluation else "",
                "domain": evaluation.fingerprint.domain if evaluation else "",
            }
        )
    return rows


def _comparable(evaluation: Evaluation) -> tuple[bool, bool]:
    """The more, the better it stands beside scores of others."""
    return not evaluation.fingerprint.rules.get("tasks"), evaluation.fingerprint.split == "train"


def _same_kind(later: Evaluation, before: Evaluation) -> bool:
    """Whether the later of two takes the place: not on train, whose first is the search's."""
    return _comparable(later) == _comparable(before) and before.fingerprint.split != "train"


def _played_on(evaluation: Evaluation) -> str:
    where = f"{evaluation.fingerprint.domain} {evaluation.fingerprint.split}"
    return ", ".join(each for each in (where, _apart(evaluation.fingerprint.rules)) if each)


def _grow(
    branch: Tree,
    journal: Journal,
    proposals: Sequence[ProposalRecord],
    names: dict[str, str],
    lineage: set[str],
    scale: Scale,
) -> None:
    for proposal in proposals:
        assert proposal.design_id is not None and proposal.estimate is not None
        score = scale.value(proposal.estimate["mean"])
        shown = score if proposal.estimate["complete"] else f"({score})"
        label = names.get(proposal.design_id) if not proposal.parents else proposal.operator
        marked = proposal.design_id in lineage
        words = Text.assemble(
            (short(proposal.design_id), "bold green" if marked else "bold"),
            f" {shown} ",
            visible(label or "", "dim"),
        )
        children = journal.children(proposal.design_id)
        _grow(branch.add(words), journal, children, names, lineage, scale)
