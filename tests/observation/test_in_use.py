"""From a run to a memory that runs: what was promoted for observational memory is what is used, until it
is undone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bench.observation import SHORT, learned

import metamem
from metamem.api import open_home
from metamem.cli.main import run
from metamem.core.chat import Question
from metamem.core.errors import UsageError
from metamem.core.figures import scale_of
from metamem.core.types import Design, Query
from metamem.designs.human.observational import Settings
from metamem.designs.library import load
from metamem.designs.settings import with_settings
from metamem.domains.toy import ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.models.allowance import Allowance
from metamem.observation.dialogues import dialogue
from metamem.observation.domain import DESIGN, OBSERVER, SPACE, ObservationDomain
from metamem.observation.playing import play
from metamem.promotion import AGREED, Ledger
from metamem.promotion.parameters import change, in_use
from metamem.runs.settings import learn_config
from metamem.runs.summary import Summary
from metamem.service.designs.serving import Serving
from metamem.service.designs.starting import served_designs
from metamem.service.service import MemoryService
from metamem.store import Place
from metamem.store.records import Subject
from tests.observation.test_domain import Listening
from tests.service.designs.parts import MEMBER, NAME, SCOPE

INLINE = Spec("inline")
HERE = Place("domain", "observation")
MODEL = "scripted:metamem.observation.scripted:answer"
SET = SPACE.completed({"observe_at": 1_000, "kept_raw": 0.1, "budget": 500, "brief": True})
SPOKEN = dialogue(0, "valid", 0, 5_000)


def approved(home: Path, values: Mapping[str, Any]) -> Subject:
    """As `metamem promotions approve` does it."""
    with open_home(home) as archive:
        ledger = Ledger(archive)
        entry = change(ledger, values, HERE, reason="better", evidence={})
        ledger.approve(entry.subject, HERE, by="Ada")
        return entry.subject


def undone(home: Path, subject: Subject) -> None:
    with open_home(home) as archive:
        Ledger(archive).undo(subject, HERE, by="Ada", reason="it was better before")


def lived(home: Path, design: str | Design = DESIGN, path: Path | None = None) -> str:
    """What a memory of one's own tells after it lived through a dialogue."""
    with metamem.open_memory(design, path, home=home, model=MODEL) as memory:
        for session in SPOKEN.sessions:
            memory.update(session)
        return memory.retrieve("What was said?")


async def evaluated(values: Mapping[str, Any]) -> str:
    """What the same settings were scored by."""
    chat = Listening()
    await play(Settings(**values), SPOKEN, chat, 4_000, 0)
    return chat.advice[0].partition("\n</notes>")[0].removeprefix("<notes>\n")


async def test_what_is_served_is_what_was_scored_until_it_is_undone(tmp_path: Path) -> None:
    usual = lived(tmp_path)
    assert usual == await evaluated({}) and "Notes on" not in usual
    subject = approved(tmp_path, SET)
    found = lived(tmp_path)
    assert found == await evaluated(SET) and "Notes on" in found
    assert lived(tmp_path, load(DESIGN)) == usual  # a design that is given runs as it is
    assert lived(tmp_path / "elsewhere") == usual
    undone(tmp_path, subject)
    assert lived(tmp_path) == usual


def test_a_memory_that_was_kept_learns_its_log_anew_with_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    usual = lived(tmp_path, path=path)
    approved(tmp_path, SET)
    with metamem.open_memory(DESIGN, path, home=tmp_path, model=MODEL) as memory:
        told = memory.retrieve("What was said?")
        assert memory.replayed == len(SPOKEN.sessions)
    assert "Notes on" in told and told != usual


def test_settings_of_another_version_are_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    with open_home(tmp_path) as archive:
        ledger = Ledger(archive)
        entry = change(ledger, {"gone": 1}, HERE, reason="an older one", evidence={})
        ledger.approve(entry.subject, HERE, by="Ada")
    with pytest.raises(UsageError, match="has no setting 'gone'"):
        metamem.open_memory(DESIGN, home=tmp_path)


async def test_the_service_serves_what_is_in_use_and_follows_what_is_decided(
    tmp_path: Path,
) -> None:
    how = Serving(look_every=0.0, advice_tokens=1_500, patience=60.0)
    service = MemoryService(tmp_path / "memory")
    service.make_scope(SCOPE)
    with open_home(tmp_path):
        pass
    try:
        async with served_designs(
            service, tmp_path, design=DESIGN, scope=NAME, serving=how
        ) as served:
            for session in SPOKEN.sessions:
                await served.experience(MEMBER, NAME, session)

            async def told() -> tuple[str, int]:
                for _ in range(50):  # while another is opened, the one before answers
                    found = await served.advise(MEMBER, NAME, Query("What was said?"))
                    if found.design == (await served._deciding.decision(SCOPE)).named.id:
                        return found.design, found.tokens
                raise AssertionError("it was never opened")

            usual = await told()
            assert usual[0] == load(DESIGN).id and usual[1] > 1_000
            subject = approved(tmp_path, SET)
            now = await told()
            assert now[0] == with_settings(load(DESIGN), SET).id and now[1] <= SET["budget"]
            undone(tmp_path, subject)
            assert await told() == usual
    finally:
        service.close()


async def test_a_served_one_with_a_model_tells_what_the_evaluated_one_does(tmp_path: Path) -> None:
    approved(tmp_path, SET)
    how = Serving(advice_tokens=4_000, patience=60.0)
    service = MemoryService(tmp_path / "memory")
    service.make_scope(SCOPE)
    paid = {"model": MODEL, "allowance": Allowance(tokens=10_000_000)}
    tokens = 0
    try:
        for _ in range(2):  # opened again it pays nothing
            async with served_designs(
                service, tmp_path, design=DESIGN, scope=NAME, serving=how, **paid
            ) as served:
                for session in () if tokens else SPOKEN.sessions:
                    await served.experience(MEMBER, NAME, session)
                found = await served.advise(MEMBER, NAME, Query("What was said?"))
                assert found.text == await evaluated(SET) and "Notes on" in found.text
                spent = served.status()["model"]["tokens"]
                assert spent == (tokens or spent) > 0
                tokens = spent
    finally:
        service.close()
    assert found.text == lived(tmp_path)


def test_a_planted_threshold_is_learned_approved_and_used(tmp_path: Path) -> None:
    """The one loop, as for every other domain. In short dialogues the defaults never observe."""
    result = learned(tmp_path, 0)
    assert result.promoted, result.summary.decision
    row, usual = result.summary.row("test"), result.summary.row("test", "defaults")
    assert row.costs[OBSERVER] > 0 == usual.costs[OBSERVER]
    assert not [w for w in result.summary.search.warnings if OBSERVER in w]
    with open_home(tmp_path) as archive:
        ledger = Ledger(archive)
        (waiting,) = ledger.pending()
        assert in_use(ledger, HERE) is None
        with pytest.raises(UsageError, match="tokens = 4000 "):
            ledger.approve(waiting.subject, HERE, by="Ada")  # it was learned on short dialogues
        ledger.approve(waiting.subject, HERE, by="Ada", evidence={AGREED: True})
        assert in_use(ledger, HERE) == json.loads(result.learned.source)
    found = with_settings(load(DESIGN), SPACE.read(result.learned))
    assert opened_with(tmp_path) == found.id


@pytest.mark.slow
def test_where_answers_are_shuffled_nothing_is_promoted(tmp_path: Path) -> None:
    for seed in range(2):
        assert not learned(tmp_path / str(seed), seed, shuffled=True).promoted


def test_an_observer_that_never_ran_is_a_warning(tmp_path: Path) -> None:
    """Where calls alone count, to be silent is best."""
    result = learned(tmp_path, 0, answers=0.0, context=0.0, calls=1.0, tokens=1_000)
    (row,) = [r for r in result.summary.tables["test"] if r.name == "learned"]
    assert row.costs[OBSERVER] == 0
    told = f"with what was learned there were no {OBSERVER} at all on 2 tasks"
    assert told in result.summary.search.warnings


def notes_nothing(question: Question) -> str:
    """A model of no use: it never writes a note, and always takes the first option."""
    return question.choices[0] if question.choices else "I would rather not."


def test_which_model_observes_is_a_matter_of_configuration(tmp_path: Path) -> None:
    """The same settings on the same dialogues: with the scripted model by its name as without any, and
    with another one as that one does."""
    values = tmp_path / "mine.json"
    values.write_text(json.dumps(SPACE.completed({"observe_at": 1_000, "budget": 600})))
    rewards, calls = [], []
    for name in ("", MODEL, f"scripted:{__name__}:notes_nothing"):
        (found,) = metamem.evaluate(
            str(values),
            "observation",
            home=tmp_path / "home",
            executor=INLINE,
            models={"memory": name} if name else {},
            domain_settings={**SHORT, "valid": 3},
        )
        rewards.append(found.reward)
        calls.append(sum(row.model_calls for row in found.rows))
    assert rewards[0] == rewards[1] > rewards[2]
    assert calls[0] == 0 and calls[1] > 3 * 24 and calls[2] > 3 * 24


def test_a_person_approves_and_undoes_on_the_command_line(tmp_path: Path) -> None:
    with open_home(tmp_path) as archive:
        entry = change(Ledger(archive), SET, HERE, reason="better", evidence={})
    usual = load(DESIGN).id
    assert opened_with(tmp_path) == usual  # it waits
    for words in (("approve",), ("undo", "--reason", "worse")):
        where = [entry.subject.id[:12], "--home", str(tmp_path)]
        assert run(["promotions", words[0], *where, *words[1:]]) == 0
        wanted = usual if words[0] == "undo" else with_settings(load(DESIGN), SET).id
        assert opened_with(tmp_path) == wanted


def opened_with(home: Path) -> str:
    with metamem.open_memory(DESIGN, home=home) as memory:
        return memory.design.id


def test_a_score_of_several_parts_is_not_called_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    small = ("--domain", "observation", "--tasks", "2", "--setting", "tokens=1000", "--quiet")
    for words in (("evaluate", "defaults", "silent"), ("compare", "defaults", "silent")):
        assert run([*words, *small, "--home", str(tmp_path)]) == 0
    assert run(["archive", "list", "--home", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.count("score %") == 3 and "success" not in said
    scale = scale_of(ObservationDomain())
    kept = Summary(reward_name=scale.name).to_json()
    assert Summary.from_json(kept).scale == scale
    assert scale_of(ToyDomain()).heading == "success %"


def test_the_domain_suggests_who_searches_and_anybody_may_say_otherwise() -> None:
    assert learn_config(None, "observation", "", {}).proposer == Spec("adaptive")
    assert learn_config(None, "dials", "", {}).proposer == Spec("gaussian")
    said = {"proposer": Spec("gaussian")}
    assert learn_config(None, "observation", "", said).proposer == Spec("gaussian")
