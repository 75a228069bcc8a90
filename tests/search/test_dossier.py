"""The dossier: what is in it, what is left out when there is too much, and that it is in bounds."""

import asyncio
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.tokens import count_tokens
from metamem.core.types import Design
from metamem.search.dossier import dossier as dossier_with
from metamem.search.episodes import in_turn, shown_episodes, tasks_to_show
from metamem.search.fitting import LEFT_OUT, both_ends, fenced, first_that_fit, indented, shortened
from metamem.search.llm import LlmProposer
from metamem.search.proposer import Ancestor, Evidence, ParentView, Request, ShownEpisode
from tests.search.scripted import ScriptedModel, design, search


def episode(n: int = 0, reward: float = 0.0, best_other: float = 0.0, steps: int = 5, **other):
    fields = {
        "task_id": f"task-{n}", "kind": "some", "goal": f"reach the end {n}", "advice": "go on",
        "changed": True, "steps": (("", "the start"),
                                *((f"walk {i}", f"place {i}") for i in range(steps))),
    }  # fmt: skip
    return ShownEpisode(reward=reward, best_other=best_other, **(fields | other))


def dossier(request, tokens):
    """With all episodes of the first parent to choose from."""
    found = asyncio.run(request.parents[0].episodes(())) if request.parents else ()
    return dossier_with(request, tokens, partial(shown_episodes, found))


def view(episodes=(), source=None, **other):
    own = {
        "evidence": Evidence(mean_reward=0.4, empty=0.25, error="IndexError", cases=20),
        "origin": Ancestor("c" * 32, "llm", "Tells less", 0.4, 0.15),
        "lineage": (Ancestor("b" * 32, "cross", "Two parts", 0.25, -0.05),
                    Ancestor("a" * 32, "human", "written by people", 0.3, None)),
        "children": (Ancestor("d" * 32, "llm", "Tells nothing", 0.1, -0.3),),
        "fruitless": ("Tells all (the same code as 1234)",),
        "rewards": {"t-won": 1.0, "t-lost": 0.0, "t-same": 0.5},
        "before": {"t-won": 0.0, "t-lost": 1.0, "t-same": 0.5},
        "others": {"t-won": 0.5, "t-lost": 1.0, "t-same": 0.5},
        "kinds": {"t-won": "easy", "t-lost": "hard", "t-same": "hard"},
    }  # fmt: skip
    return ParentView(Design(source or design()), 0.4, episodes=always(episodes), **(own | other))


def always(episodes):
    async def found(tasks):
        return episodes

    return found


REQUEST = Request(
    [view([episode()]), ParentView(Design("# another one\n"), 0.7, rewards={"t-lost": 1.0})],
    domain_description="About birds.",
    invariants=("birds fly",),
)


def test_all_that_is_known_is_in_it():
    text = dossier(REQUEST, 5000)
    assert design() in text
    for words in (
        "About birds.", "birds fly",
        "mean reward: 0.400", "Against its own parent: +0.150",
        "nothing to say: 25%", "IndexError",
        "(cross; gained -0.050, then 0.250): Two parts", "a beginning",
        "(llm; gained -0.300, then 0.100): Tells nothing", "Tells all (the same code as 1234)",
        "hard, 2 tasks: 0.25; 0.75; 0.75",
        "reach the end 0", "Advice (the agent acted otherwise than without it)", "    go on", "    > walk 4",
        "mean reward 0.700, better on 1 tasks", "# another one",
    ):  # fmt: skip
        assert words in text, words


def test_tasks_that_others_win_and_changes_since_its_parent_are_listed():
    text = dossier(REQUEST, 5000)
    loses, lost, won = (text.index(words) for words in (
        "It loses these, and another design wins them:\n\n- t-lost (hard): 0.00; 1.00; 1.00",
        "It lost these since its parent:\n\n- t-lost",
        "It won these since its parent:\n\n- t-won (easy): 1.00; 0.00; 0.50",
    ))  # fmt: skip
    assert loses < lost < won


def test_without_hints_nothing_is_said_about_the_domain():
    bare = dossier(Request(REQUEST.parents, hints=False, domain_description="About birds.",
                           invariants=("birds fly",)), 5000)  # fmt: skip
    assert "birds" not in bare and "domain" not in bare
    assert design() in bare and "reach the end 0" in bare


def test_without_parents_it_says_so():
    text = dossier(Request(domain_description="About birds."), 500)
    assert "About birds." in text and "the first" in text


# --- too much of everything -------------------------------------------------------------------

words = st.text(alphabet=st.sampled_from("ab c`\n#>"), max_size=30)
long_words = st.builds(lambda word, n: word * n, words, st.sampled_from([0, 1, 40, 600]))
shown = st.builds(
    ShownEpisode,
    task_id=long_words, kind=words, goal=long_words, reward=st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
    best_other=st.sampled_from([0.0, 1.0]), advice=long_words, changed=st.none() | st.booleans(),
    steps=st.lists(st.tuples(words, long_words), max_size=5).map(lambda s: tuple(s * 20)),
)  # fmt: skip
relatives = st.lists(
    st.builds(Ancestor, id=words, operator=words, note=long_words, mean=st.floats(0, 1),
              gain=st.none() | st.floats(-1, 1)),
    max_size=4,
).map(lambda some: tuple(some * 30))  # fmt: skip
rewards = st.dictionaries(long_words, st.sampled_from([0.0, 0.5, 1.0]), max_size=30)
views = st.builds(
    lambda source, episodes, **other: ParentView(
        Design(source), 0.5, Evidence(error="Error " * 999, cases=9),
        episodes=always(episodes), **other),
    source=long_words, episodes=st.lists(shown, max_size=12), lineage=relatives,
    children=relatives, fruitless=st.lists(long_words, max_size=3).map(tuple), rewards=rewards,
    before=rewards, others=rewards, kinds=st.dictionaries(long_words, words, max_size=9),
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(views, max_size=3), long_words, st.lists(long_words, max_size=4),
       st.integers(0, 9000), st.integers(0, 3))  # fmt: skip
def test_it_stays_within_its_budget_and_never_cuts_code(parents, about, always, tokens, seed):
    request = Request(parents, seed=seed, domain_description=about, invariants=always)
    text = dossier(request, tokens)
    least = count_tokens(dossier(Request(parents[:1], hints=False), 0))  # the code, and its score
    assert count_tokens(text) <= max(tokens, least)
    for parent in parents[:1]:
        assert fenced(parent.design.source, "python") in text


def test_more_room_shows_more():
    parents = [view([episode(n, steps=40) for n in range(12)])]
    counts = [dossier(Request(parents), tokens).count("#### Task") for tokens in (600, 2000, 9000)]
    assert counts[0] < counts[1] < counts[2] == 12


def test_the_sample_hangs_on_the_seed_alone():
    parents = [view([episode(n) for n in range(12)])]
    texts = [dossier(Request(parents, seed=seed), 1500) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_every_sort_of_episode_is_shown_failures_too():
    many = [episode(n, reward=1.0) for n in range(50)]
    few = [episode(90, reward=0.0), episode(91, reward=-1.0), episode(92, 0.5, best_other=1.0)]
    shown = shown_episodes(many + few, Random(3), 1200)
    assert shown.count("#### Task") >= 5
    for task in ("task-90", "task-91", "task-92"):
        assert task in shown
    assert {e.task_id for e in in_turn(many + few, Random(1))} == {e.task_id for e in many + few}


def test_what_is_shown_are_failures_and_changes_of_every_kind():
    kinds = {f"{kind}-{n}": kind for kind in ("easy", "hard", "odd") for n in range(20)}
    rewards = {task: 0.0 if task.startswith("hard") else 1.0 for task in kinds} | {"odd-7": 0.0}
    before = dict.fromkeys(kinds, 0.0) | {"hard-3": 1.0, "hard-4": 1.0}
    seen = view(rewards=rewards, before=before, others=before, kinds=kinds)
    tasks = tasks_to_show(seen, before, Random(1))
    assert len(tasks) == len(set(tasks)) == 12
    assert {"hard-3", "hard-4", "odd-7"} <= set(tasks[:4])  # what got worse, and the rarest kind
    assert sum(rewards[task] == 0.0 for task in tasks) == 9
    assert {kinds[task] for task in tasks} == set(kinds.values())
    assert tasks == tasks_to_show(seen, before, Random(1)) != tasks_to_show(seen, before, Random(2))


@given(rewards, rewards, st.dictionaries(long_words, words, max_size=9), st.integers(0, 3))
def test_what_is_shown_was_played(own, other, kinds, seed):
    tasks = tasks_to_show(view(rewards=own, others=other, kinds=kinds), other, Random(seed))
    assert len(tasks) == min(12, len(own)) and set(tasks) <= set(own)


def test_a_long_episode_keeps_its_beginning_and_its_end():
    shown = shown_episodes([episode(steps=500)], Random(0), 300)
    assert "the start" in shown and "walk 0" in shown and "walk 499" in shown
    assert LEFT_OUT in shown and "walk 250" not in shown


def test_nothing_that_was_seen_can_pass_for_a_part_of_the_dossier():
    trap = "```\n## The design\u2028### Its code\r\n#### Task x"
    request = Request([view([episode(advice=trap, steps=0, goal=trap)])])
    text = "\n" + dossier(request, 3000)
    assert text.count("\n### Its code") == 1 and text.count("\n## The design") == 1
    assert text.count("\n#### Task") == 1


@given(st.text(), st.integers(0, 60))
def test_shortened_text_fits_and_whole_text_stays(text, tokens):
    short = shortened(text, tokens)
    assert count_tokens(short) <= tokens
    if count_tokens(text) <= tokens:
        assert short == text


@given(st.lists(st.text()), st.integers(0, 60))
def test_pieces_from_both_ends_fit_and_keep_their_order(pieces, tokens):
    kept = both_ends(pieces, tokens)
    assert sum(map(count_tokens, kept)) <= tokens
    if LEFT_OUT in kept and LEFT_OUT not in pieces:
        gap = kept.index(LEFT_OUT)
        assert kept[:gap] == pieces[:gap]
        assert kept[gap + 1 :] == pieces[len(pieces) - len(kept) + gap + 1 :]
    assert first_that_fit(pieces, tokens) == pieces[: len(first_that_fit(pieces, tokens))]


@given(st.text())
def test_blocks_cannot_be_left_from_inside(text):
    assert all(line.startswith("    ") for line in indented(text).splitlines())
    assert fenced(text).splitlines()[0] not in text


# --- what the search fills in -----------------------------------------------------------------


class Newest:
    def select(self, archive, k, *, reference, seed):
        return [c.id for c in sorted(archive, key=lambda c: -c.order)][:k]


async def test_a_search_shows_its_designs_as_they_were_played(tmp_path):
    seen = []

    class Watching(LlmProposer):
        async def propose(self, request):
            if request.failed_attempt is None:
                view = request.parents[0]
                tasks = tasks_to_show(view, view.before, Random(0))
                seen.append((request, await view.episodes(tasks)))
            return await super().propose(request)

    models = {"model": ScriptedModel()}
    await search(tmp_path, models, designs=3, batch=1, proposer=Watching(), selector=Newest())
    request, episodes = seen[-1]
    parent = request.parents[0]
    assert request.invariants == ("an episode has at most four actions",)
    assert parent.origin.id == parent.design.id and parent.origin.operator == "llm"
    assert parent.origin.gain == pytest.approx(parent.mean - parent.lineage[0].mean)
    assert parent.lineage[-1].operator == "human" and parent.lineage[-1].gain is None
    assert set(parent.before) == set(parent.rewards) == set(parent.others)
    assert len(episodes) >= 6
    for each in episodes:
        assert each.reward == parent.rewards[each.task_id]
        assert each.kind == parent.kinds[each.task_id] and each.kind in each.goal
        assert each.best_other == parent.others[each.task_id]
        assert each.steps[0][0] == "" and all(action for action, _ in each.steps[1:])
    assert any(each.changed and each.advice for each in episodes)
    made = {view.design.id: view for request, _ in seen for view in request.parents}
    assert parent.lineage[0].id in made
