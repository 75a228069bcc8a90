"""The best of a search once more: half as many on twice the tasks, rung by rung."""

import asyncio
import random
from dataclasses import replace
from types import SimpleNamespace

import metamem
from metamem.api import open_home
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.domains.dials import DialsDomain
from metamem.domains.toy import ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.runs.config import LearnConfig
from metamem.runs.confirming import Rung, confirmed, rungs


class Reserved(ToyDomain):
    def __init__(self, further):
        super().__init__()
        self.further = further

    def reserve(self):
        return [replace(t, id=f"further-{n}") for n, t in enumerate(self.tasks("train") * 9)][
            : self.further
        ]


def config(**settings):
    return LearnConfig(domain=Spec("toy"), agent=Spec("reader"), **settings)


def tasks(domain, rules):
    return {task.id for task in plan(domain, "train", rules).deployment}


def test_every_rung_halves_the_designs_and_costs_the_same():
    domain = Reserved(360)
    ladder = rungs(domain, Rules(), config(confirm=16, confirm_seeds=3, shortlist=3))
    assert [rung.designs for rung in ladder] == [16, 8, 4]
    plays = [len(plan(domain, "train", rung.rules).cases) for rung in ladder]
    assert plays == [20, 40, 80] and [rung.share for rung in ladder] == [1, 2, 4]
    chosen_by = tasks(domain, Rules())
    seen = [tasks(domain, rung.rules) for rung in ladder]
    assert seen[0] < seen[1] < seen[2] and not seen[2] & chosen_by


def test_where_the_reserve_ends_or_there_is_none_the_tasks_are_played_again():
    for domain in (ToyDomain(), Reserved(40), DialsDomain()):
        ladder = rungs(domain, Rules(), config(confirm=16, confirm_seeds=3, shortlist=3))
        plays = [len(plan(domain, "train", rung.rules).cases) for rung in ladder]
        assert plays == [plays[0], 2 * plays[0], 4 * plays[0]]
        assert tasks(domain, ladder[2].rules) == tasks(domain, ladder[0].rules)


def test_groups_of_the_reserve_are_played_whole():
    domain = DialogueDomain(train=2, valid=2, test=2, shift=2, reserve=8)
    first, second = rungs(domain, Rules(), config(confirm=4, confirm_seeds=2, shortlist=1))
    groups = {
        task.group for task in plan(domain, "train", second.rules).deployment
    } - {task.group for task in plan(domain, "train", first.rules).deployment}  # fmt: skip
    assert groups and not groups & {task.group for task in domain.tasks("train")}


def test_no_fewer_are_left_than_go_before_the_gate():
    ladder = rungs(ToyDomain(), Rules(), config(confirm=4, confirm_seeds=3, shortlist=3))
    assert [rung.designs for rung in ladder] == [4, 3, 3]


def entry(number, mean):
    return SimpleNamespace(
        design=SimpleNamespace(id=str(number)),
        estimate=SimpleNamespace(mean=mean),
        evidence=SimpleNamespace(tokens=0),
        ordinal=number,
    )


async def found_first(worth, seed):
    """The design that is best after two rungs, each play of which has luck of its own."""
    luck = random.Random(seed)
    ladder = [Rung(16, Rules(), 1), Rung(8, Rules(), 2)]

    async def play(n, designs):
        plays = 50 * ladder[n].share
        return {
            d.id: SimpleNamespace(
                reward=sum(luck.random() < worth[int(d.id)] for _ in range(plays)) / plays
            )
            for d in designs
        }

    entries = [entry(n, sum(luck.random() < p for _ in range(50)) / 50) for n, p in worth.items()]
    return int((await confirmed(entries, 16, ladder, play))[0].design.id)


def test_the_best_is_found_among_lucky_ones_and_nobody_is_favoured_where_all_are_alike():
    worth = dict.fromkeys(range(24), 0.4) | {17: 0.65}
    runs = [asyncio.run(found_first(worth, seed)) for seed in range(100)]
    assert runs.count(17) >= 95
    alike = [asyncio.run(found_first(dict.fromkeys(range(24), 0.4), seed)) for seed in range(200)]
    assert max(map(alike.count, range(24))) < 30


def test_a_run_confirms_so(tmp_path):
    settings = {"designs": 8, "batch": 4, "confirm": 4, "confirm_seeds": 2, "shortlist": 1}
    metamem.learn(
        "toy", home=tmp_path, run="t", executor=Spec("inline"), control=False, explain=False,
        final_repeats=1, seed=5, **settings,
    )  # fmt: skip
    with open_home(tmp_path) as archive:
        confirmations = [e for e in archive.evaluations() if e.fingerprint.rules["fold"]]
    repeats = [e.fingerprint.rules["repeats"] for e in confirmations]
    assert 2 <= repeats.count(1) <= 4 and repeats.count(2) == 2
