"""The table of `bench.evidence_llm`, and what failed cases looked like."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from metamem.agents.llm_prompt import as_example
from metamem.core.types import Evaluation
from metamem.evaluation.statistics import holm_corrected, paired_comparison, t_interval
from metamem.store.records import Trace

WHOLE = 1 << 30  # tokens of an episode that is shown


def table(
    evaluations: Mapping[str, Evaluation | None], learning: Mapping[str, tuple[int, int]]
) -> list[dict[str, Any]]:
    """One row a design. The first is what the others are compared with."""
    rows: list[dict[str, Any]] = []
    whole = {name: e for name, e in evaluations.items() if e is not None and e.complete}
    first = next(iter(evaluations))
    rivals = [name for name in whole if name != first] if first in whole else []
    gains = holm_corrected(
        {n: paired_comparison(whole[n].by_task(), whole[first].by_task()) for n in rivals}
    )
    for name, evaluation in evaluations.items():
        played = evaluation.rows if evaluation is not None else ()
        row: dict[str, Any] = {"name": name, "played": len(played), "complete": name in whole}
        if evaluation is not None and played:
            tasks = list(evaluation.by_task().values())
            low, high = t_interval(tasks, 0.95) if len(tasks) > 1 else (0.0, 1.0)
            repeats = sorted({r.repeat for r in played})
            row |= {
                "design": evaluation.design,
                "won": evaluation.reward,
                "low": max(0.0, low),
                "high": min(1.0, high),
                "by_repeat": [fmean(r.reward for r in played if r.repeat == n) for n in repeats],
                "by_task": dict(evaluation.by_task()),
                "steps": fmean(r.steps for r in played),
                "asks": fmean(r.costs.get("asks", 1.0) for r in played),
                "advice_tokens": fmean(r.advice_tokens for r in played),
                "calls": fmean(r.model_calls for r in played),
                "tokens": fmean(r.tokens for r in played),
                "failures": sum(bool(r.failure) for r in played),
                "memory_calls": learning.get(evaluation.design, (0, 0))[0],
                "memory_tokens": learning.get(evaluation.design, (0, 0))[1],
            }
        if name in gains:
            row["comparison"] = gains[name].to_json()
        rows.append(row)
    return rows


def show(found: Mapping[str, Any]) -> str:
    """The table for people."""
    lines = [
        f"{found['model']}: {found['domain']} {found['split']}, {found['tasks']} tasks × "
        f"{found['repeats']} repeats, {found['collected']} collected episodes "
        f"({found['collected_won']} won), temperature {found['temperature']:g}, "
        f"memory asked {found['ask']}",
        "",
        f"| design | won % (95 %) | gain over {found['rows'][0]['name']} (95 %) | p (Holm) "
        "| asks | advice tokens | calls a case | tokens a case | memory's own calls |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        if not row["complete"]:
            lines.append(f"| {row['name']} | {row['played']} cases played | | | | | | | |")
            continue
        gain = p = ""
        if c := row.get("comparison"):
            gain = f"{_percent(c['gain'], '+')} ({_percent(c['low'], '+')} to {_percent(c['high'], '+')})"
            p = f"{c['p_holm']:.2g}"
        lines.append(
            f"| {row['name']} | {_percent(row['won'])} "
            f"({_percent(row['low'])} to {_percent(row['high'])}) | {gain} | {p} "
            f"| {row['asks']:.1f} | {row['advice_tokens']:.0f} | {row['calls']:.1f} | {row['tokens']:.0f} "
            f"| {row['memory_calls']} |"
        )
    return "\n".join(lines)


def _percent(share: float, sign: str = "") -> str:
    return f"{100 * share + 0.0:{sign}.1f}"  # and no minus before a zero


def failures(name: str, traces: Iterable[Trace], most: int) -> str:
    """Some episodes of a design that were not won, as the model saw them."""
    lost = [trace for trace in traces if trace.episode.reward < 1][:most]
    return "\n".join(
        f"--- {name}, {trace.case.task_id}: not won\n{as_example(trace.episode, WHOLE)}"
        for trace in lost
    )
