"""metamem route, on the owner's own scope."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from metamem.promotion import Ledger
from metamem.promotion.parameters import Bounds, change, propose_bounds
from metamem.routing import SPACE
from metamem.store import Place, open_archive

S = "local/project/shop"
ARMS = ("--arm", "small,cost=0.02", "--arm", "large,cost=0.4,success=0.7")


@pytest.fixture
def run(metamem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    for name in ("METAMEM_URL", "METAMEM_KEY", "METAMEM_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        said = metamem("route", *words)
        assert said.code == code, said.out + said.err
        return said.out + said.err

    return run


def chosen(run: Callable[..., str], task: str = "mend it") -> dict:
    return json.loads(run("choose", task, *ARMS, "--scope", S, "--json"))


def test_from_a_choice_to_status(run: Callable[..., str]) -> None:
    made = chosen(run)
    assert made["arm"] in ("small", "large")
    assert {arm["arm"] for arm in made["arms"]} == {"small", "large"}
    assert "told of" in run("reward", made["decision"], "--success", "1", "--cost", "0.1")
    assert "told before" in run("reward", made["decision"], "--success", "1", "--cost", "0.1")
    told = run("explain", made["decision"])
    assert "mend it" in told and "propensity" in told and "success 1, cost 0.1" in told
    shown = run("status", "--scope", S)
    assert "1 decision, 1 with an outcome" in shown and "settings from defaults" in shown
    found = json.loads(run("status", "--scope", S, "--json"))
    assert found["decisions"] == 1 and found["settings"]["floor"] == 0.05


def test_a_choice_says_itself_and_why(run: Callable[..., str]) -> None:
    said = run("choose", "mend it", *ARMS, "--tag", "language=python", "--scope", S)
    assert said.splitlines()[0] in ("small", "large")
    assert "was drawn with a propensity of" in said and "The decision: d" in said


def test_evaluating_by_the_own_log_and_by_anothers(run: Callable[..., str], tmp_path: Path) -> None:
    chosen(run)
    assert "0 decisions with an outcome says nothing" in run("evaluate", "--scope", S, code=2)
    rows = [
        {
            "task": f"{'night' if n % 2 else 'day'} watch",
            "odds": {"owl": 0.5, "lark": 0.5},
            "arm": ("owl", "lark")[n // 2 % 2],
            "success": float((n % 2 == 1) == (n // 2 % 2 == 0)),
        }
        for n in range(400)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    said = run("evaluate", "--log", str(log))
    assert "better than" in said and "routed" in said and "snips" in said
    found = json.loads(run("evaluate", "--log", str(log), "--json"))
    assert found["better"] and found["policies"][0]["robust"]["value"] > 0.9
    for row in rows:
        del row["odds"]
    log.write_text("\n".join(map(json.dumps, rows)))
    assert "no propensities" in run("evaluate", "--log", str(log), code=3)


def test_what_cost_and_latency_are_worth_can_be_said(
    run: Callable[..., str], tmp_path: Path
) -> None:
    """Latencies in milliseconds, say: what one takes off is up to whoever knows the unit."""
    rows = [
        {
            "task": "watch",
            "odds": {"owl": 0.5, "lark": 0.5},
            "arm": ("owl", "lark")[n % 2],
            "success": 1,
            "latency": 900,
        }
        for n in range(80)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    words = ("evaluate", "--log", str(log), "--cost-weight", "0", "--latency-weight", "0.000002")
    assert "success less 0 × cost and 2e-06 × latency" in run(*words)
    found = json.loads(run(*words, "--json"))
    assert found["latency_weight"] == 0.000002
    assert found["policies"][0]["snips"]["value"] == pytest.approx(1.0 - 0.0018)
    made = json.loads(run("choose", "mend it", *ARMS, "--cost-weight", "1", "--scope", S, "--json"))
    assert {a["arm"]: round(a["worth"], 2) for a in made["arms"]} == {"small": 0.48, "large": 0.3}
    assert "cost_weight 1," in run("status", "--scope", S)


def test_figures_that_rest_on_few_decisions_are_marked(
    run: Callable[..., str], tmp_path: Path
) -> None:
    rows = [
        {"task": f"{n}", "odds": {"a": 0.9, "b": 0.1}, "arm": "ab"[n in (3, 90)], "success": n % 2}
        for n in range(100)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    said = run("evaluate", "--log", str(log))
    (row,) = (line for line in said.splitlines() if line.strip().strip("│| ").startswith("b "))
    assert "*" in row and "…" not in row  # one decision has no interval
    assert "not to be trusted" in said


def test_status_says_nothing_of_what_is_not_known(run: Callable[..., str]) -> None:
    chosen(run)
    found = json.loads(run("status", "--scope", S, "--json"))
    assert {arm["arm"]: arm["success"] for arm in found["arms"]} == {"small": None, "large": None}
    assert "there is no such scope" in run("status", "--scope", "local/project/none", code=8)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("choose", "x", "--scope", S), 2, "--arm"),
        (("choose", " ", *ARMS, "--scope", S), 2, "for a task"),
        (("choose", "x", "--arm", "a", "--arm", "a", "--scope", S), 2, "named twice"),
        (("choose", "x", "--arm", "a,luck=1", "--scope", S), 2, "nothing is believed"),
        (("choose", "x", "--arm", "a,cost=much", "--scope", S), 2, "must be a number"),
        (("choose", "x", "--arm", "a,success=2", "--scope", S), 2, "from 0 to 1"),
        (("choose", "x", "--arm", "a,cost=1e308", "--arm", "b", "--scope", S), 2, "at most 1e+12"),
        (("choose", "x", *ARMS, "--cost-weight", "1e308", "--scope", S), 2, "to 1e+12"),
        (("choose", "x", *ARMS, "--tag", "python", "--scope", S), 2, "NAME=VALUE"),
        (("reward", "d0", "--success", "1"), 2, "no decision"),
        (("reward", "d0", "--success", "nan"), 2, "Invalid value"),
        (("reward", "d0", "--success", "2"), 2, "Invalid value"),
        (("explain", "d0"), 2, "no decision"),
        (("status",), 2, "nothing was routed"),
        (("evaluate", "--log", "nowhere.jsonl"), 2, "cannot be read"),
        (("evaluate", "--log", "nothing.jsonl"), 3, "has no decision"),
        (("evaluate", "--log", "odds.jsonl"), 3, "odds.jsonl, line 2: the propensities"),
        (("choose", "x", *ARMS, "--cost-weight", "-1"), 2, "Invalid value"),
        (("choose", "x", *ARMS, "--latency-weight", "inf", "--scope", S), 2, "a number"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Callable[..., str], words: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "nothing.jsonl").touch()
    row = {"task": "x", "odds": {"a": 0.5, "b": 0.6}, "arm": "a", "success": 1}
    (tmp_path / "odds.jsonl").write_text("\n" + json.dumps(row) + "\n" + json.dumps(row))
    assert said in run(*words, code=code)


def test_what_was_approved_runs_though_no_variable_names_its_archive(
    run: Callable[..., str], metamem, tmp_path: Path
) -> None:
    """The archive lies where one works; routers belong to the memory, which lies elsewhere."""
    home, place = tmp_path / "metamem-home", Place("domain", "routing")
    with open_archive(home / "archive.db") as archive:
        values = {**SPACE.defaults(), "floor": 0.4}
        entry = change(Ledger(archive), values, place, reason="a test", evidence={})
    approve = ("promotions", "approve", entry.subject.id)
    said = metamem(*approve)
    assert "there is no memory" in said.out and "METAMEM_HOME=" in said.out
    assert not (tmp_path / "memory").exists()
    assert metamem("promotions", "undo", entry.subject.id, "--reason", "a test").code == 0
    chosen(run)
    with open_archive(home / "archive.db") as archive:
        change(Ledger(archive), values, place, reason="a test", evidence={})
    said = " ".join(metamem(*approve, "--watched").out.split())
    assert "follow it within seconds" in said
    assert "0 pairs" in run("status", "--scope", S)
    status = json.loads(run("status", "--scope", S, "--json"))
    assert (status["settings"]["floor"], status["settings_from"]) == (0.4, "domain:routing")


def test_what_is_no_setting_of_routers_is_not_said_to_be_followed_or_watched(
    run: Callable[..., str], metamem, tmp_path: Path
) -> None:
    chosen(run)
    place = Place("scope", S)
    with open_archive(tmp_path / "metamem-home" / "archive.db") as archive:
        ledger, bounds = Ledger(archive), Bounds({"degrees": (0, 300)})
        propose_bounds(ledger, bounds, place, by="Ada")
        entry = change(ledger, {"degrees": 200.0}, place, reason="a test", evidence={})
    said = metamem("promotions", "approve", entry.subject.id, "--watched")
    assert said.code == 2 and "nothing watches" in said.err
    for subject in (entry.subject.id, bounds.subject.id):
        said = metamem("promotions", "approve", subject)
        assert said.code == 0 and "routers" not in said.out
