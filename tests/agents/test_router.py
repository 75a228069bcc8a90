"""The router as an agent: it deals evenly while collecting, learns, and is frozen in deployment."""

import random
from collections import Counter
from pathlib import Path

import pytest

import metamem
from metamem.agents.router import RouterAgent
from metamem.core import registry
from metamem.core.errors import ModelUnavailable, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.needs import needs_of
from metamem.core.protocols import Seat
from metamem.core.types import Episode, Evaluation, Observation, Step, Task
from metamem.domains.base import DomainBase
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules

HERE = Path(__file__).name
INLINE = Spec("inline")
FIRST, LAST = f"{__name__}:First", f"{__name__}:Last"
ROUTED = f"router:{FIRST},{LAST}"


class _Always:
    place = 0

    @property
    def fingerprint(self) -> str:
        return type(self).__name__

    def start(self, seat: Seat) -> "_Always":
        return self

    def advise(self, advice: str) -> None:
        pass

    async def act(self, observation: Observation) -> str:
        return observation.actions[self.place]


class First(_Always):
    """Takes the first action."""


class Last(_Always):
    """Takes the last."""

    place = -1


class _World:
    def __init__(self, right: str) -> None:
        self.right = right

    def reset(self) -> Observation:
        return Observation("two doors", ("left", "right"))

    def step(self, action: str) -> Observation:
        return Observation("over", (), float(action == self.right), True)

    def close(self) -> None:
        pass


class Doors(DomainBase):
    """Who goes by day must go left, who goes by night must go right; `planted` says how often."""

    name = "doors"
    max_steps = 1

    def __init__(self, planted: float = 0.95, seed: int = 0) -> None:
        self.planted, self.seed = planted, seed
        self.version = content_id("doors", planted, seed)[:12]

    def describe(self) -> str:
        return "Two doors."

    def tasks(self, split: str) -> list[Task]:
        made = []
        for n in range(80):
            luck = random.Random(derive_seed(self.seed, split, n))
            night = luck.random() < 0.5
            fits = luck.random() < self.planted
            right = ("right" if night else "left") if fits else ("left" if night else "right")
            goal = f"leave {'at night' if night else 'by day'}, house {n}"
            made.append(Task(f"{split}-{n}", goal, "night" if night else "day", {"right": right}))
        return made

    def world(self, task: Task, seed: int) -> _World:
        return _World(task.data["right"])

    def baselines(self) -> tuple[str, ...]:
        return ("no_memory",)

    def oracle(self, task: Task) -> str:
        return str(task.data["right"])


DOORS = f"{__name__}:Doors"


def played(agent: str, home: Path, **settings: object) -> Evaluation:
    (found,) = metamem.evaluate(
        "no_memory", DOORS, "test", home=home, executor=INLINE, agent=Spec(agent), **settings
    )
    return found


def shares(found: Evaluation) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for row in found.rows:
        counts.update(row.costs)
    return {name: count / len(found.rows) for name, count in counts.items()}


def test_it_learns_on_what_it_collected_and_beats_both_alone(tmp_path: Path) -> None:
    routed = played(ROUTED, tmp_path)
    assert routed.reward > 0.8
    assert max(played(FIRST, tmp_path).reward, played(LAST, tmp_path).reward) < 0.7
    assert shares(routed).keys() == {"by First", "by Last"}
    assert sum(shares(routed).values()) == pytest.approx(1.0)


def test_whoever_gets_a_task_plays_as_alone(tmp_path: Path) -> None:
    alone = {name: played(name, tmp_path).by_task() for name in (FIRST, LAST)}
    for row in played(ROUTED, tmp_path).rows:
        who = FIRST if row.costs["by First"] else LAST
        assert row.reward == alone[who][row.task_id]


def test_with_nothing_collected_it_deals_evenly_by_chance(tmp_path: Path) -> None:
    found = played(ROUTED, tmp_path, rules=Rules(collect=0))
    assert 0.3 < shares(found)["by First"] < 0.7


def test_every_design_has_the_same_agent_whatever_it_is_given(tmp_path: Path) -> None:
    whole = played(ROUTED, tmp_path)
    none = played(ROUTED, tmp_path, rules=Rules(experience="none"))
    assert [row.costs for row in whole.rows] == [row.costs for row in none.rows]


def test_it_plays_inside_learn_and_in_workers(tmp_path: Path) -> None:
    result = metamem.learn(
        DOORS,
        home=tmp_path,
        agent=Spec(ROUTED),
        designs=1,
        confirm=1,
        confirm_seeds=0,
        final_repeats=1,
        control=False,
        explain=False,
    )
    rows = {row.name: row for row in result.summary.tables["test"]}
    assert rows["no_memory"].mean > 0.8
    assert 0.3 < rows["no_memory"].costs["by First"] < 0.7
    again = played(ROUTED, tmp_path)
    assert again.reward == pytest.approx(rows["no_memory"].mean)


def test_where_nothing_tells_tasks_apart_nothing_is_lost_to_the_better_agent(
    tmp_path: Path,
) -> None:
    """A null: the goal says nothing, so that one agent for all tasks is the best there is."""
    settings = {"domain_settings": {"planted": 0.5, "seed": 3}}
    best = max(played(name, tmp_path, **settings).reward for name in (FIRST, LAST))
    assert played(ROUTED, tmp_path, **settings).reward > best - 0.2


def test_lessons_name_the_agent_that_really_played() -> None:
    router = RouterAgent(f"{FIRST},{LAST}")
    seen: Counter[str] = Counter()
    for seed in range(200):
        seat = Seat("leave", seed)
        episode = Episode("t", "leave", "two doors", (), (Step("left", "over"),), 1.0)
        lesson = router.lesson(seat, episode)
        assert lesson["arm"] == router.chosen(seat, Observation("two doors"))[0]
        assert lesson["propensity"] == 0.5 and lesson["steps"] == 1
        seen[lesson["arm"]] += 1
    assert min(seen.values()) > 60


def test_its_name_says_which_agents_and_settings() -> None:
    one = registry.create("agents", "router:reader,explorer")
    assert one.fingerprint.startswith("router-1/reader,explorer/")
    other = registry.create("agents", "router:reader,explorer", noise=0.2)
    assert one.fingerprint != other.fingerprint
    assert needs_of("agents", "router:reader,explorer").model == ""
    assert needs_of("agents", "router:reader,llm").model == "agent"


@pytest.mark.parametrize(
    "name",
    ["router", "router:", "router:reader", "router:reader,reader", "router:reader,router:a,b"],
)
def test_what_is_no_router_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="router"):
        registry.create("agents", name)
    with pytest.raises(UsageError):
        registry.create("agents", "router:reader,explorer", bolness=1.0)


def test_an_agent_that_needs_a_model_is_refused_without_one(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="needs a model"):
        played(f"router:{FIRST},llm", tmp_path)


def test_it_learns_from_its_own_episodes_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another agent collects"):
        played(ROUTED, tmp_path, collector=Spec(FIRST))
