"""metamem evaluate and metamem compare: designs on a split, and one against another."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.across import show_across
from metamem.cli.cases import case_rows, print_by_task, refuse_what_never_ran, tell_failures
from metamem.cli.conditions import USUAL, Conditions
from metamem.cli.results import print_results
from metamem.cli.screen import print_json, print_table, remark, say
from metamem.cli.spread import spread
from metamem.core.errors import UnknownName, UsageError
from metamem.core.figures import Scale, chance, percent, scale_of
from metamem.core.protocols import Domain
from metamem.core.types import Evaluation
from metamem.designs.library import load, needs_model
from metamem.evaluation.statistics import (
    bootstrap_interval,
    cohens_d,
    paired_comparison,
    paired_differences,
    wilcoxon,
)
from metamem.runs.table import TableRow, table

EVALUATE_EXAMPLES = """[bold]Examples[/bold]

metamem evaluate no_memory success_retrieval --domain toy

metamem evaluate my_memory.py 3f9ac2d1 --domain alfworld --split valid

metamem evaluate my_memory.py --domain coding --tasks 10 --by-task [dim]# a first look[/dim]

metamem evaluate no_memory trajectory_retrieval --domain alfworld --split test --parity alma

metamem evaluate defaults careful --domain dials [dim]# sets of parameters[/dim]
"""
COMPARE_EXAMPLES = """[bold]Examples[/bold]

metamem compare 3f9ac2d1 success_retrieval --domain toy --split valid

metamem compare my_memory.py no_memory --domain alfworld --split test

metamem compare --across [dim]# who wins where, over all domains that something was learned for[/dim]
"""
GUIDES = {
    "code": "docs/designs.md tells what a design is",
    "params": "docs/parameters.md tells more",
}
Designs = Annotated[
    list[str],
    typer.Argument(
        metavar="DESIGN...",
        autocompletion=o.complete_designs,
        help="Names of human designs, Python files (JSON files of parameters), or ids from the archive.",
        show_default=False,
    ),
]
OneDesign = Annotated[
    str,
    typer.Argument(
        autocompletion=o.complete_designs,
        help="A human design, a Python file (a JSON file of parameters), or an id from the archive.",
        show_default=False,
    ),
]


@spread()
def evaluate(
    designs: Designs,
    domain: o.Domain,
    split: o.Split = "valid",
    by_task: Annotated[
        bool, typer.Option("--by-task", help="Also a line for each task, not only the means.")
    ] = False,
    played: Conditions = USUAL,
    json: o.Json = False,
) -> None:
    """Evaluate designs on a split.

    What the archive already holds under equal conditions is not played again. With --json each
    design has its rows: the result of every case.
    """
    found = played.evaluated(domain, designs, split, "evaluate")
    made = played.made(domain)
    tasks, scale = played.deployed(made, domain, split), scale_of(made)
    rows = _rows(designs, found, made)
    if json:
        kinds = {task.id: task.kind for task in tasks}
        pairs = zip(rows, found, strict=True)
        print_json([_told(r, each) | {"rows": case_rows(each, kinds)} for r, each in pairs])
    refuse_what_never_ran(designs, found, GUIDES[made.kind])
    if json:
        return
    print_results(_title(found[0], len(tasks)), rows, scale)
    if by_task:
        print_by_task(designs, found, tasks, scale)
    tell_failures(designs, found)
    for name, each in zip(designs, found, strict=True):
        if made.kind == "code" and _without_its_model(name, each):
            remark(f"{name} asks a model, and none was given (--model memory=NAME): it did without")


def _without_its_model(name: str, evaluation: Evaluation) -> bool:
    """Whether a design that people wrote for a model was played without one."""
    try:
        design = load(name)
    except UnknownName:  # an id of the archive
        return False
    return needs_model(design) and "memory" not in evaluation.fingerprint.models


@spread()
def compare(
    a: OneDesign = "",
    b: OneDesign = "",
    domain: o.Domain = "",
    split: o.Split = "",
    played: Conditions = USUAL,
    json: o.Json = False,
    across: Annotated[
        bool,
        typer.Option(
            "--across", help="Each domain's learned design and all human ones in every domain."
        ),
    ] = False,
) -> None:
    """Compare two designs, paired by task, with every statistic metamem has.

    Whatever is missing is evaluated first. A positive gain says that A did better. With --across,
    who wins where: every design that was learned for some domain is played in all of them.
    """
    if across:
        if a or b:
            raise UsageError(
                "--across takes no designs",
                hint="it compares all that were learned, and the human ones",
            )
        show_across(domain, split or "test", played, json)
        return
    if not (a and b and domain):
        raise UsageError(
            "which two designs, in which domain?", hint="metamem compare A B --domain NAME"
        )
    split = split or "valid"
    ours, theirs = played.evaluated(domain, [a, b], split, "compare")
    found = _compared(ours, theirs)
    made = played.made(domain)
    rows = _rows([a, b], [ours, theirs], made)
    if json:
        one, other = _told(rows[0], ours), _told(rows[1], theirs)
        print_json({"a": one, "b": other, "comparison": found})
        return
    scale = scale_of(made)
    print_results(_title(ours, len(played.deployed(made, domain, split))), rows, scale)
    tell_failures([a, b], [ours, theirs])
    say("")
    _show(found, scale)


def _title(evaluation: Evaluation, tasks: int) -> str:
    played = len(evaluation.by_task())
    share = f"{played}" if played == tasks else f"only {played} of {tasks}"
    return f"{evaluation.fingerprint.domain}, {evaluation.fingerprint.split}: {share} tasks"


def _rows(
    names: Sequence[str], evaluations: Sequence[Evaluation], domain: Domain
) -> list[TableRow]:
    """Each on its own: nothing is corrected, and a name may come twice."""
    pairs = zip(names, evaluations, strict=True)
    return [
        row
        for name, evaluation in pairs
        for row in table({name: evaluation}, (), domain.reward_range)
    ]


def _told(row: TableRow, evaluation: Evaluation) -> dict[str, Any]:
    return row.to_json() | {
        "conditions": evaluation.fingerprint.conditions,
        "failure": next((r.failure for r in evaluation.rows if r.failure), ""),
    }


def _compared(ours: Evaluation, theirs: Evaluation) -> dict[str, Any]:
    if ours.fingerprint.conditions != theirs.fingerprint.conditions:
        raise UsageError(
            "the two were not evaluated under equal conditions",
            hint="only evaluations whose fingerprints are equal, save the design, are compared",
        )
    for evaluation in (ours, theirs):
        if not evaluation.complete:
            raise UsageError(
                f"the evaluation {evaluation.id} is not complete: "
                f"{len(evaluation.rows)} of {evaluation.planned} cases",
                hint="run the same command again to finish it",
            )
    a, b = ours.by_task(), theirs.by_task()
    differences = paired_differences(a, b)
    low, high = bootstrap_interval(differences)
    return {
        **paired_comparison(a, b).to_json(),
        "bootstrap_low": low,
        "bootstrap_high": high,
        "wilcoxon": asdict(wilcoxon(differences)),
        "cohens_d": cohens_d(differences),
        "won": sum(d > 0 for d in differences),
        "tied": sum(d == 0 for d in differences),
        "lost": sum(d < 0 for d in differences),
    }


def _show(found: Mapping[str, Any], scale: Scale) -> None:
    size, d = found["effect_size"], found["cohens_d"]
    rows = [
        ("gain in points" if scale.shares else "gain", scale.gain(found["gain"])),
        ("95 % interval (t)", scale.gain_span(found["low"], found["high"])),
        (
            "95 % interval (bootstrap)",
            scale.gain_span(found["bootstrap_low"], found["bootstrap_high"]),
        ),
        (
            f"p, sign-flip ({found['permutation_method']}): the one to quote",
            chance(found["p_permutation"]),
        ),
        ("p, paired t", chance(found["p_t"])),
        (f"p, Wilcoxon ({found['wilcoxon']['method']})", chance(found["wilcoxon"]["p"])),
        ("effect size, Hedges' g", "none" if size is None else f"{size:.2f}"),
        ("effect size, Cohen's d", "none" if d is None else f"{d:.2f}"),
        ("tasks won, tied, lost", f"{found['won']}, {found['tied']}, {found['lost']}"),
        ("share of tasks won, ties half", f"{percent(found['superiority'])} %"),
    ]
    print_table(("statistic", "value"), rows)
    for text in (found["power_hint"], found["note"]):
        if text:
            say(text)
