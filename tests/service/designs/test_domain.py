"""A scope's moments as a domain: cut by time without leaks, pinned, and learned from."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metamem
from metamem.api import LearnResult, open_home
from metamem.core import registry
from metamem.core.errors import Denied, MetamemError, UsageError
from metamem.core.protocols import Domain
from metamem.core.types import SPLITS, Experience, Query, Step
from metamem.domains.conformance import DomainConformance
from metamem.evaluation.jobs import Spec
from metamem.models.hashed_embedder import HashedEmbedder
from metamem.promotion.ledger import Ledger
from metamem.runs.settings import learn_config
from metamem.service.access.rights import owner_of_file
from metamem.service.designs.domain import ScopeDomain
from metamem.service.designs.moments import enter_experience
from metamem.service.designs.permission import allow_learning
from metamem.service.designs.recorded import Moment
from metamem.service.designs.scoring import Wanted, wanted_of, worth
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.windows import FEWEST, windows
from metamem.service.erasers import ArchiveEraser, ReportEraser
from metamem.service.service import MemoryService
from metamem.store.records import Place, Subject
from tests.service.designs.parts import Home
from tests.service.designs.streams import HERE, LEVERS, SERVICES, recorded

S = f"scope:{HERE}"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "memory"
    monkeypatch.setenv("METAMEM_MEMORY", str(folder))
    yield folder


class TestScope(DomainConformance):
    @pytest.fixture(autouse=True)
    def stream(self, memory: Path) -> None:
        recorded(memory, 60, planted=True)

    def make(self) -> Domain:
        found: Domain = registry.create("domains", S)
        return found


def test_it_is_a_domain_like_any_other(memory: Path) -> None:
    recorded(memory, 60, planted=True)
    domain = registry.create("domains", S)
    assert domain.name == S
    assert "scope" not in registry.names("domains")
    sizes = {split: len(domain.tasks(split)) for split in SPLITS}
    assert sizes == {"train": 21, "valid": 15, "test": 9, "shift": 9}
    assert "live comparison" in domain.describe()
    task = domain.tasks("valid")[0]
    assert domain.world(task, 0).step(domain.oracle(task)).reward > 0.9
    assert domain.world(task, 0).step("").reward == 0.0


def test_no_memory_is_given_anything_from_its_window_or_later(memory: Path) -> None:
    recorded(memory, 60, planted=True)
    domain = ScopeDomain(str(HERE))
    goals = [moment.query.goal for moment in domain._records.moments]
    before = 0
    for split in SPLITS:
        for group in dict.fromkeys(task.group for task in domain.tasks(split)):
            history = domain.history(group)
            first = next(task.id for task in domain.tasks(split) if task.group == group)
            assert len(history) == int(first[1:]) > before  # one experience for each moment before
            assert [each.goal for each in history] == goals[: len(history)]
            before = len(history)
    assert len(ScopeDomain(str(HERE), history=5).history("test-0")) == 5


@given(st.integers(FEWEST, 400))
def test_windows_are_disjoint_in_order_and_all_are_used(count: int) -> None:
    moments = [Moment(str(n), n, Query("x"), (Wanted("action", "y"),)) for n in range(count)]
    cut = windows(moments)
    used = [moment.event for split in SPLITS for window in cut[split] for moment in window.moments]
    assert used == list(range(used[0], count))
    assert used[0] > 0
    assert len(cut["train"]) == 4


def test_a_scope_that_grows_is_pinned_where_a_run_begins(memory: Path) -> None:
    recorded(memory, 60, planted=True)
    config = learn_config(None, S, "", {})
    assert config.domain.name == "scope"
    assert set(config.domain.settings) == {"data", "folder", "until"}
    then = registry.create("domains", config.domain.name, **config.domain.settings)
    recorded_more(memory)
    again = registry.create("domains", config.domain.name, **config.domain.settings)
    assert again.version == then.version
    assert again.tasks("shift") == then.tasks("shift")
    now = registry.create("domains", S)
    assert now.version != then.version


def recorded_more(memory: Path) -> None:
    service = MemoryService(memory)
    with service.database.writing() as execute:
        ((number,),) = execute("SELECT number FROM scopes WHERE name = ?", (HERE.name,))
        caller = owner_of_file(execute)
        enter_experience(execute, number, str(HERE), caller, Experience("x").to_json(), "", ())
    service.close()


def test_too_few_moments_are_told_with_what_it_takes(memory: Path) -> None:
    recorded(memory, 12, planted=True)
    with pytest.raises(UsageError, match=r"has 12 recorded moments .* it takes 40"):
        registry.create("domains", S)
    with pytest.raises(UsageError, match="which scope"):
        learn_config(None, "scope", "", {})
    with pytest.raises(Denied):
        registry.create("domains", "scope:local/project/none")


def test_nobodys_records_are_learned_from_without_their_managers_word(home: Home) -> None:
    folder = str(home.service.folder)
    with pytest.raises(Denied):
        ScopeDomain("acme/project/web", folder)
    with home.service.database.writing() as execute:
        allow_learning(execute, home.number, True)
    with pytest.raises(UsageError, match="has 0 recorded moments"):
        ScopeDomain("acme/project/web", folder)


def test_a_folder_without_a_service_is_not_made_into_one(memory: Path) -> None:
    with pytest.raises(MetamemError, match="no memory service"):
        registry.create("domains", S)
    assert not memory.exists()


def test_what_was_wanted_is_what_paid() -> None:
    idle, paid = Step("wait", "nothing"), Step("Pull the lever!", "it runs", (), 1.0)
    assert wanted_of(Experience(steps=(idle, paid), reward=1.0)) == [
        Wanted("action", "Pull the lever!")
    ]
    assert len(wanted_of(Experience(steps=(idle, Step("go", "")), reward=0.5))) == 2
    assert wanted_of(Experience(steps=(idle,), reward=0.0)) == []


def test_advice_is_worth_what_it_holds_less_what_it_costs() -> None:
    wanted = [Wanted("action", "pull the blue lever"), Wanted("fact", "The gate opens at nine.")]
    assert worth("", wanted, 0.001) == 0.0
    assert worth("Pull the  blue lever.", wanted, 0.0) == 0.5
    assert worth("pull the blue levers", wanted, 0.0) == 0.0
    assert worth("at nine the gate opens; pull the blue lever", wanted, 0.0) == 1.0
    assert worth("pull the blue lever", wanted[:1], 0.01) == pytest.approx(0.96)
    known = [f"pull the {lever} lever" for lever in ("blue", "coral", "jade", "amber")]
    everything = ", ".join(known)  # a list of all that ever worked is worth a guess
    assert worth(everything, wanted[:1], 0.0, known) == 0.25
    assert worth("pull the blue lever", wanted[:1], 0.0, known) == 1.0
    assert worth("pull the jade lever", wanted[:1], 0.0, known) == 0.0


@given(st.text(max_size=300), st.floats(0, 0.9))
def test_no_reward_is_out_of_bounds(advice: str, cost: float) -> None:
    assert 0.0 <= worth(advice, [Wanted("action", "x")], cost) <= 1.0


def learned(home: Path, designs: int) -> LearnResult:
    found: LearnResult = metamem.learn(
        S,
        home=home,
        executor=Spec("inline"),
        embedder=Spec("hashed"),
        designs=designs,
        control=False,
        explain=False,
    )
    return found


@pytest.mark.slow
def test_where_experience_says_what_works_a_design_is_found_and_then_serves(
    memory: Path, tmp_path: Path
) -> None:
    recorded(memory, 160, planted=True)
    home = tmp_path / "home"
    result = learned(home, 40)
    rows = {row.name: row for row in result.summary.tables["test"]}
    assert result.promoted, result.summary.decision
    assert rows["learned"].mean > rows["no_memory"].mean + 0.5
    assert result.learned is not None
    subject, place = Subject("design", result.learned.id), Place("scope", str(HERE))
    service = MemoryService(memory)
    with open_home(home) as archive:
        ledger = Ledger(archive)
        (waiting,) = ledger.pending()
        assert (waiting.subject, waiting.place) == (subject, place)
        with pytest.raises(UsageError, match="live comparison"):
            ledger.approve(subject, place, by="ada")
        ledger.approve(subject, place, by="ada", evidence={"without_comparison": "a test"})

        async def served() -> list[str]:
            caller = service.local_caller()
            async with ServedDesigns(service, archive, embedder=HashedEmbedder()) as designs:
                return [
                    (await designs.advise(caller, str(HERE), Query(f"mend {name}"))).text
                    for name in SERVICES
                ]

        told = asyncio.run(served())
        assert sum(any(f"the {lever} lever" in text for lever in LEVERS) for text in told) >= 8

        # What the run kept of the scope goes with the scope.
        evaluation = next(e for e in archive.evaluations(result.learned.id, "valid"))
        assert archive.traces(evaluation.id)
        report = home / "reports" / f"{result.run_id}.html"
        report.parent.mkdir()
        report.write_text("mend billing")
        service.erasing.erasers += [ReportEraser(home, archive), ArchiveEraser(archive)]
        service.erase(service.local_caller(), str(HERE), "asked to")
        assert not report.exists()
    service.close()
    for path in (*memory.rglob("*"), *home.rglob("*")):
        if path.is_file():
            assert b"mend billing" not in path.read_bytes(), path


@pytest.mark.slow
def test_where_experience_says_nothing_nothing_is_promoted(memory: Path, tmp_path: Path) -> None:
    recorded(memory, 160, planted=False)
    result = learned(tmp_path / "home", 16)
    assert not result.promoted
    with open_home(tmp_path / "home") as archive:
        assert Ledger(archive).pending() == []
        assert archive.promotions()[0].place == Place("scope", str(HERE))
