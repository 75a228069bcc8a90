"""On which scale a domain rewards changes figures, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

import metamem
from metamem.api import LearnResult, open_home
from metamem.evaluation.jobs import Spec
from metamem.report.plots.curve import curve_plot
from metamem.store.records import ProposalRecord
from tests.runs.eightfold import POINTS

EIGHTFOLD = "tests.runs.eightfold:Eightfold"
INLINE = Spec("inline")


def learned(domain: str, home: Path) -> tuple[LearnResult, list[ProposalRecord]]:
    found = metamem.learn(
        domain, home=home, run="r", executor=INLINE, designs=18, seed=3, control=False,
        confirm=3, confirm_seeds=1,
    )  # fmt: skip
    with open_home(home) as archive:
        return found, archive.proposals("r")


def test_a_run_learns_the_same(tmp_path: Path) -> None:
    ones, plain = learned("toy", tmp_path / "ones")
    eights, scaled = learned(EIGHTFOLD, tmp_path / "eights")
    assert len(plain) > 18
    for one, eight in zip(plain, scaled, strict=True):
        assert (one.design_id, one.operator, one.note) == (
            eight.design_id, eight.operator, eight.note,
        )  # fmt: skip
        assert (one.status, one.evidence) == (eight.status, eight.evidence)
        if one.estimate is not None:
            assert eight.estimate is not None
            assert eight.estimate["mean"] == POINTS * one.estimate["mean"]
    assert ones.learned == eights.learned
    for split, rows in ones.summary.tables.items():
        means = [POINTS * row.mean for row in rows]
        assert [row.mean for row in eights.summary.tables[split]] == means


@pytest.mark.filterwarnings("error")
def test_sweeps_show_rewards_as_they_are(tmp_path: Path, capsys: Any) -> None:
    from metamem.cli import sweeps

    grown = metamem.curve("success_retrieval", EIGHTFOLD, [0, 40], home=tmp_path, executor=INLINE)
    last = grown.rows[0].points[40]
    assert 1.0 < last.mean < last.high <= POINTS  # an interval is not cut off at 1
    assert grown.to_json()["reward_range"] == [0.0, POINTS]
    plot = str(curve_plot(grown))
    assert "%" not in plot.replace("95 % intervals", "") and f"{last.mean:.3f}" in plot
    sweeps._show_curve(grown)
    carried = metamem.transfer(
        "success_retrieval", EIGHTFOLD, ["reader", "random"], home=tmp_path, executor=INLINE
    )
    sweeps._show_transfer(carried)
    shown = capsys.readouterr().out
    assert "success" not in shown.replace("success_retrieval", "") and "reward" in shown
    assert f"{last.mean:.3f}" in shown
    plain = metamem.curve("success_retrieval", "toy", [0, 40], home=tmp_path, executor=INLINE)
    assert "reward_range" not in plain.to_json() and "success %" in str(curve_plot(plain))
