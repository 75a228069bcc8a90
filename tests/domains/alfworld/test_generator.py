"""Own games: solvable, the same for the same seed, like homes, and shifted where asked."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.domains.alfworld.engine import NOTHING, AlfworldWorld
from metamem.domains.alfworld.export import game_content
from metamem.domains.alfworld.game import parse_game
from metamem.domains.alfworld.generator import generate
from metamem.domains.alfworld.goals import KINDS
from metamem.domains.alfworld.homes import HABITS, HOME_ROOMS, UNUSUAL_ROOMS
from metamem.domains.alfworld.tables import ACCEPTS, FIXTURES

KEYS = (st.integers(0, 2**40), st.sampled_from(["train", "shift"]), st.integers(0, 10**6))


@settings(max_examples=200, deadline=None)
@given(*KEYS, st.booleans())
def test_every_game_is_won_by_its_walkthrough_at_the_last_step(seed, split, index, shifted):
    game = generate(seed, split, index, shifted=shifted)
    world = AlfworldWorld(game)
    seen = [world.reset(), *(world.step(command) for command in game.walkthrough)]
    assert [s.done for s in seen] == [False] * (len(seen) - 1) + [True]
    assert NOTHING not in [s.text for s in seen]
    assert len(game.walkthrough) <= 30


@settings(max_examples=50, deadline=None)
@given(*KEYS, st.booleans())
def test_the_seed_decides_and_a_file_keeps_the_game(seed, split, index, shifted):
    game = generate(seed, split, index, shifted=shifted)
    assert generate(seed, split, index, shifted=shifted) == game
    assert parse_game(game_content(game)) == game


def test_a_template_lends_its_texts_and_gets_the_goal_sentence():
    game = generate(0, "train", 0)
    template = {"pddl_domain": "(domain)", "grammar": 'x "Your task is to: UNKNOWN GOAL." y'}
    written = game_content(game, template)
    assert set(written) == {"pddl_domain", "grammar", "pddl_problem", "solvable", "walkthrough"}
    assert written["pddl_domain"] == "(domain)"
    assert written["grammar"] == f'x "Your task is to: {game.sentence}." y'


@pytest.fixture(scope="module", params=[False, True], ids=["home", "shifted"])
def games(request):
    return request.param, [generate(7, "many", i, shifted=request.param) for i in range(600)]


def test_sizes_are_like_those_of_published_games(games):
    _, many = games
    assert 18 < sum(len(g.receptacles) for g in many) / len(many) < 28
    assert 36 < sum(len(g.things) for g in many) / len(many) < 50
    assert {g.goal.kind for g in many} == set(KINDS)
    assert len({g.goal for g in many}) > 60


def test_oddities_of_published_games_occur(games):
    _, many = games
    placed = [Counter(thing for thing, _ in g.placed) for g in many]
    assert any(max(counts.values()) > 1 for counts in placed), "things in two receptacles"
    assert all(len(counts) < len(g.things) for counts, g in zip(placed, many, strict=True))
    assert any(len(r) > 1 for g in many for r in g.at_location.values()), "shared locations"
    assert any(g.inside for g in many)
    assert any(g.states["iscool"] for g in many)
    doors = {r.openable for g in many for r in g.receptacles if r.type == "cabinet"}
    assert doors == {True, False}


def places(many, thing):
    """Where things of a type are, as shares."""
    found = Counter(
        g.receptacles[r].type for g in many for t, r in g.placed if g.things[t].type == thing
    )
    return {place: count / found.total() for place, count in found.items()}


def test_things_keep_to_their_habits_at_home_and_less_so_when_shifted(games):
    shifted, many = games
    if shifted:
        assert places(many, "cellphone").get("bed", 0) < 0.25
    else:
        assert places(many, "handtowel")["handtowelholder"] > 0.8
        assert places(many, "egg")["fridge"] > 4 * places(many, "egg").get("sidetable", 0)
        assert places(many, "laptop")["bed"] > 0.3


@pytest.mark.slow
def test_shifted_goals_and_rooms_are_never_met_at_home():
    home = [generate(7, "many", i) for i in range(600)]
    away = [generate(7, "many", i, shifted=True) for i in range(600)]
    assert not {g.goal for g in home} & {g.goal for g in away}

    def layouts(games):
        return {tuple(r.id for r in g.receptacles) for g in games}

    assert not layouts(home) & layouts(away)
    assert 60 < len(layouts(home)) <= 100


def test_tables_of_rooms_name_known_types_only():
    for room in (*HOME_ROOMS.values(), *UNUSUAL_ROOMS.values()):
        assert {row[0] for row in room.receptacle_counts()} <= set(ACCEPTS)
        assert set(f"{room.always} {room.often} {room.rarely}".split()) <= set(HABITS)
        assert {name.partition("*")[0] for name in room.fixtures.split()} <= FIXTURES
    assert {place for habit in HABITS.values() for place in habit} <= {*ACCEPTS, "floor"}
