"""Memory asked while acting: it finds what is seen on the way, and costs nothing where it cannot."""

import zlib
from dataclasses import replace

import pytest

from metamem.core.chat import Question, Reply, Site
from metamem.core.errors import DesignFailure, UsageError
from metamem.core.ids import canonical_json
from metamem.core.types import Advice, Case, Design, Experience, Query, Step
from metamem.core.waiting import USUAL, Answer, Wait
from metamem.designs import library
from metamem.designs.jailed import Jail
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import CaseDone, Job, JobDone, Setup, Spec
from metamem.evaluation.rules import Rules, asking
from metamem.evaluation.telling import told
from metamem.models.hashed_embedder import HashedEmbedder
from tests.evaluation.signposts import SIGN_AFTER, Signposts

SIGNPOSTS = "tests.evaluation.signposts:Signposts"
BY_SIGN = Design('''
from metamem.designs import Memory, Wait, text


class BySign(Memory):
    """Which last action was rewarded after which words."""

    def __init__(self, tools):
        super().__init__(tools)
        self.asked, self.worked = 0, {}

    async def update(self, experience):
        if experience.reward > 0:
            for word in text.content_words(experience.steps[-2].observation):
                self.worked.setdefault(word, []).append(experience.steps[-1].action)

    async def retrieve(self, query):
        self.asked += 1
        assert self.asked == 1  # each question reaches the state as it was learned
        assert bool(query.steps) == bool(query.start)
        wait = Wait(new_actions=True)
        told = {}
        for word in text.content_words(query.observation):
            for action in self.worked.get(word, ()):
                told[action] = told.get(action, 0) + 1 / len(set(self.worked[word]))
        best = max(told, key=told.get, default="")
        return ("1. " + best, wait) if query.steps and best else ("", wait)
''')


def lived(domain: Signposts) -> bytes:
    """What one learns who tries every door."""
    lines = []
    for task in domain.tasks("train"):
        world = domain.world(task, 0)
        first, steps = world.reset(), []
        for action in [*["walk on"] * SIGN_AFTER, task.data["door"]]:
            seen = world.step(action)
            steps.append(Step(action, seen.text, seen.actions, seen.reward, seen.done))
        lived = Experience(task.goal, first.text, first.actions, tuple(steps), 1.0)
        lines.append(canonical_json(lived.to_json()))
    return zlib.compress("\n".join(lines).encode())


async def played(
    design: Design, ask: str, *, fair: bool = True, repeats: int = 1, **rules: object
) -> tuple[JobDone, list[CaseDone]]:
    domain = Signposts(fair)
    setup = Setup(
        Spec(SIGNPOSTS, {"fair": fair}),
        Spec("reader"),
        Spec("auto"),
        Rules(repeats=repeats, **asking(ask), **rules),  # type: ignore[arg-type]
    )
    cases = tuple(Case(t.id, n) for n in range(repeats) for t in domain.tasks("valid"))
    job = Job("j", setup, "valid", cases, design=design, experiences="all", keep_all=True)
    blob = lived(domain)
    executor = InlineExecutor(lambda key: blob)
    found: list[CaseDone] = []
    try:
        done = await executor.run(job, found.append)
    finally:
        await executor.close()
    assert not done.error and not any(case.row.failure for case in found)
    return done, found


def reward(found: list[CaseDone]) -> float:
    return sum(case.row.reward for case in found) / len(found)


async def test_what_is_seen_on_the_third_step_is_used_by_who_waits_for_it() -> None:
    _, once = await played(BY_SIGN, "once")
    done, when = await played(BY_SIGN, "when", repeats=2)
    assert reward(when) == 1.0 > 0.5 > reward(once)
    for case in when:
        assert case.episode is not None
        assert [(a.at, a.why) for a in case.episode.advice] == [(0, ""), (3, "new actions")]
        assert case.row.costs == {"asks": 2}
    # Repeats share answers, and a design is asked anew only where what it reads is new.
    assert done.cpu.calls["retrieve"] < len(when)
    _, never_again = await played(BY_SIGN, "when:1")
    assert reward(never_again) == reward(once)


async def test_a_sign_that_says_nothing_brings_nothing() -> None:
    """Eight doors: what a sign that is no sign says is right as often as chance, one in eight."""
    _, when = await played(BY_SIGN, "when", fair=False)
    assert reward(when) <= 0.4


async def test_who_does_not_look_at_the_steps_does_the_same_and_is_not_even_asked() -> None:
    design = library.load("success_retrieval")
    once_done, once = await played(design, "once")
    for ask in ("every:1", "when"):
        done, found = await played(design, ask)
        assert done.cpu.calls["retrieve"] == once_done.cpu.calls["retrieve"] == 1
        assert [c.row.actions_digest for c in found] == [c.row.actions_digest for c in once]
        assert [c.row.reward for c in found] == [c.row.reward for c in once]


async def test_a_streaming_memory_is_asked_when_it_wishes_too() -> None:
    source = BY_SIGN.source.replace("        assert self.asked == 1", "        # assert")
    _, found = await played(Design(source), "when", rollout="streaming")
    assert reward(found) == 1.0


ASKING = Design('''
from metamem.designs import Memory, Wait


class Asking(Memory):
    """What a model says now."""

    async def update(self, experience): ...

    async def retrieve(self, query):
        try:
            said = await self.tools.llm.ask("what now?")
        except RuntimeError:
            said = "no reply"
        return said, Wait(steps=1)
''')


async def test_a_models_answers_are_counted_over_the_whole_episode_and_kept_apart() -> None:
    ordinals: list[int] = []

    async def ask(site: Site, question: Question) -> Reply:
        ordinals.append(site.ordinal)
        return Reply(f"reply {site.ordinal}")

    setup = Setup(
        Spec(SIGNPOSTS),
        Spec("random"),
        Spec("auto"),
        Rules(ask_when=9),
        models={"memory": "m"},
        limits={"model_calls": 2},
    )
    case = Case(Signposts().tasks("valid")[0].id)
    job = Job("j", setup, "valid", (case,), design=ASKING, keep_all=True)
    executor = InlineExecutor(lambda key: b"", ask=ask)
    found: list[CaseDone] = []
    try:
        await executor.run(job, found.append)
    finally:
        await executor.close()
    assert found[0].episode is not None
    told = [advice.text for advice in found[0].episode.advice]
    assert told == ["reply 0", "reply 1", "no reply", "no reply"]
    assert ordinals == [0, 1]
    assert (found[0].row.model_calls, found[0].row.failure) == (2, "")


def returning(value: str) -> Design:
    return Design(
        "from metamem.designs import Memory, Wait\nclass M(Memory):\n"
        "    async def update(self, experience): ...\n"
        f"    async def retrieve(self, query): return {value}\n"
    )


async def answer(design: Design, query: Query) -> Answer:
    async with Jail() as jail:
        memory = await jail.open(design, seed=0, embedder=HashedEmbedder())
        try:
            return await memory.answer(query, watched=True)
        finally:
            await memory.close()


@pytest.mark.parametrize(
    "returned", ["('a', 'b')", "('a', Wait(), 3)", "3", "(3, Wait())", "('a', Wait(steps=-1))"]
)
async def test_what_is_neither_advice_nor_waiting_is_the_designs_failure(returned: str) -> None:
    with pytest.raises(DesignFailure, match=r"retrieve\(\) must return|is a count"):
        await answer(returning(returned), Query("x"))


@pytest.mark.parametrize(
    ("returned", "read"),
    [
        ("'always the same'", set()),
        ("query.goal", {"goal"}),
        ("str(len(query.steps)) + query.goal, Wait(steps=2)", {"goal", "steps"}),
        ("repr(query)", set(Query.__slots__)),
        ("str(hash(query))", set(Query.__slots__)),
        ("str(__import__('copy').copy(query) is query)", set(Query.__slots__)),
        ("__import__('dataclasses').replace(query, goal='y').goal", set(Query.__slots__)),
    ],
)
async def test_what_a_design_reads_of_a_question_is_known(returned: str, read: set[str]) -> None:
    query = Query("x", "seen", ("go",), (Step("go", "seen"),), "first", ("go",))
    found = await answer(returning(returned), query)
    assert found.read == read
    if returned == "repr(query)":
        assert found.advice == repr(query)
    assert found.wait == (Wait(steps=2) if "Wait" in returned else None)


def test_rules_say_when_memory_is_asked() -> None:
    assert asking("once") == {"ask_every": 0, "ask_when": 0}
    assert Rules(**asking("every:5")) == Rules(ask_every=5)
    assert Rules(**asking("when")) == Rules(ask_when=10)
    assert Rules(**asking("when:3")) == Rules(ask_when=3)
    for wrong in ("", "often", "every", "every:0", "when:0", "when:x", "once:2"):
        with pytest.raises(UsageError):
            asking(wrong)
    with pytest.raises(UsageError):
        Rules(ask_every=2, ask_when=2)


def test_the_stored_form_tells_rules_apart_and_leaves_asking_once_as_it_was() -> None:
    assert not {"ask_when", "asks", "usual_wait"} & Rules().to_json().keys()
    when = Rules(ask_when=4)
    assert Rules.from_json(when.to_json()) == when
    assert when.to_json()["usual_wait"] == USUAL.to_json()
    # Agents used to lose their place: what was played so is another evaluation.
    assert Rules(ask_every=2).to_json()["asks"] != "apart"
    for stored in ({"asks": "apart"}, {"asks": "apart, in place"}, {}):
        assert Rules.from_json({"ask_every": 2, **stored}) == Rules(ask_every=2)


def test_what_was_said_is_told_asking_by_asking() -> None:
    first = Advice("go in", 2)
    again = replace(first, at=3, why="new actions")
    other = Advice("go out", 2, at=5, why="the words 'key'")
    silent = Advice("", 0, at=7, why="2 actions")
    assert told([first]) == "go in"
    assert told([Advice(), silent]) == ""
    assert told([first, again, other, silent]) == (
        "go in\n\n(asked again after action 3, because of new actions: the same)\n\n"
        "(asked again after action 5, because of the words 'key')\n\ngo out\n\n"
        "(asked again after action 7, because of 2 actions: nothing to add)"
    )
