"""The 51 ids and how their levels are drawn."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.domains.baba.engine import Game, Level
from metamem.domains.baba.levels import draw_level, kinds

IDS = list(kinds())
COUNTS = {
    "goto_win": 6,
    "make_win": 15,
    "two_room-goto_win": 6,
    "two_room-break_stop-goto_win": 5,
    "two_room-maybe_break_stop-goto_win": 5,
    "two_room-make_win": 6,
    "two_room-break_stop-make_win": 5,
    "two_room-make_you": 1,
    "two_room-make_you-make_win": 1,
    "two_room-make_wall_win": 1,
}


def things(level: Level) -> Counter[str]:
    return Counter(name for stack in level.cells for name in stack)


def goal(level: Level) -> str:
    return level.plan.rpartition("goto[")[2].rstrip("]")


def test_there_are_51_ids_in_ten_families() -> None:
    assert len(IDS) == 51
    assert Counter(kind.family for kind in kinds().values()) == COUNTS
    assert {"make_win-distr_obj-irrelevant_rule#no_ball_win", "goto_win-distr_win_rule"} < set(IDS)


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(UsageError):
        draw_level("you_win", 0)


@given(st.sampled_from(IDS), st.integers(0, 2000))
def test_the_same_seed_gives_the_same_level(name: str, seed: int) -> None:
    assert draw_level(name, seed) == draw_level(name, seed)


@given(st.sampled_from(IDS), st.integers(0, 2000))
def test_rules_at_the_start_are_those_of_the_family(name: str, seed: int) -> None:
    level = draw_level(name, seed)
    rules = Game(level).rules()
    family = kinds()[name].family
    assert rules.count(("baba", "you")) == 1
    if family.startswith("two_room"):
        broken = family in ("two_room-goto_win", "two_room-make_win")
        assert (("wall", "stop") in rules) != broken
    made = "goto" in family or family == "two_room-make_you"
    if goal(level) != "wall":
        assert ((goal(level), "win") in rules) == made
    extra = [rule for rule in rules if rule[1] == "win" and rule[0] != goal(level)]
    assert len(extra) == ("distr_win_rule" in name)


@given(st.sampled_from(IDS), st.integers(0, 2000))
def test_distractors_follow_the_suffix(name: str, seed: int) -> None:
    level, kind = draw_level(name, seed), kinds()[name]
    counted = things(level)
    assert counted["baba"] == 1
    if kind.family == "two_room-make_wall_win":
        return
    objects = {thing for thing in ("ball", "key", "door") if counted[thing]}
    assert goal(level) in objects
    assert len(objects) == 1 + kind.distr_obj
    words = sum(counted[f"rule `{thing}`"] for thing in ("ball", "key", "door"))
    assert words == 1 + kind.distr_rule + kind.win_rule


@given(st.integers(0, 300))
def test_the_ball_is_chosen_or_left_out(seed: int) -> None:
    assert goal(draw_level("make_win-distr_obj#only_ball_win", seed)) == "ball"
    assert goal(draw_level("make_win#no_ball_win", seed)) in ("key", "door")


def test_what_wins_and_where_it_lies_is_drawn_evenly() -> None:
    levels = [draw_level("goto_win", seed) for seed in range(600)]
    winners = Counter(map(goal, levels))
    assert min(winners.values()) > 150
    places = Counter(level.cells.index((goal(level),)) for level in levels)
    rows = {divmod(place, 8)[0] for place in places}
    assert rows == {2, 3, 4, 5, 6}
    assert len(places) == 27  # 30 cells, less the three of BABA IS YOU


def test_the_distractor_word_lies_at_the_edge_and_in_the_corners_twice_as_often() -> None:
    places = Counter()
    for seed in range(1200):
        level = draw_level("goto_win-distr_rule", seed)
        inner = [
            (place % 8, place // 8)
            for place, stack in enumerate(level.cells)
            if stack and stack[0].startswith("rule ") and place % 8 > 3
        ]
        places.update(inner)
    assert set(places) == {(x, y) for x in (4, 5) for y in (1, 6)} | {(6, y) for y in range(1, 7)}
    assert all(150 < places[corner] < 260 for corner in ((6, 1), (6, 6)))
    assert all(60 < places[x, y] < 145 for x, y in places if (x, y) not in ((6, 1), (6, 6)))


def test_breaking_the_stop_rule_moves_either_word() -> None:
    gone = Counter()
    for seed in range(300):
        cells = draw_level("two_room-goto_win", seed).cells
        gone["is" if not cells[2 * 13 + 2] or "is" not in cells[2 * 13 + 2][0] else "stop"] += 1
    assert min(gone["is"], gone["stop"]) > 110
