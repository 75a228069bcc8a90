"""The parts for thinking: each finds what was planted, and nothing in what was shuffled."""

import doctest
import importlib
import pickle
import pkgutil
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.designs import Experience, Step, thinking
from metamem.designs.thinking import phrasing, scenes
from metamem.designs.thinking.association import Associations
from metamem.designs.thinking.atlas import Atlas
from metamem.designs.thinking.effects import Effects
from metamem.designs.thinking.frames import Frames, fill, parse
from metamem.designs.thinking.grid import GridModel
from metamem.designs.thinking.routes import Routes
from metamem.designs.thinking.search import search
from metamem.designs.thinking.sightings import Sightings
from metamem.designs.thinking.voting import Ways, useful
from metamem.designs.thinking.worlds import Worlds

PARTS = sorted(module.name for module in pkgutil.iter_modules(thinking.__path__))
line = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30)
steps = st.lists(
    st.builds(Step, line, line, st.lists(line, max_size=4).map(tuple), st.sampled_from([0.0, 1.0])),
    max_size=6,
)
experiences = st.builds(
    Experience, line, line, st.lists(line, max_size=4).map(tuple), steps.map(tuple)
)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_teaches_by_an_example_that_holds(part: str) -> None:
    module = importlib.import_module(f"metamem.designs.thinking.{part}")
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@given(st.lists(experiences, max_size=4))
def test_whatever_is_read_can_be_learned_saved_and_asked(episodes: list[Experience]) -> None:
    parts = [Frames(), Effects(), Sightings(), Routes(), GridModel()]
    again = [Frames(), Effects(), Sightings(), Routes(), GridModel()]
    for episode in episodes:
        useful(episode, ["a"])
        for part in (*parts, *again):
            part.learn(episode)
    for part, other in zip(parts, again, strict=True):
        assert pickle.loads(pickle.dumps(part)) == other  # equal, in order, and can be saved
    for episode in episodes:
        assert 0 <= parts[3].route(episode.observation, episode.goal).sure <= 1  # type: ignore[attr-defined]
        assert parts[4].plan(episode.observation, 50).nodes <= 50  # type: ignore[attr-defined]


@given(line)
def test_a_frame_filled_with_its_own_fillers_is_the_action(action: str) -> None:
    parsed = parse(action)
    if "_" not in action:
        assert fill(parsed.frame, parsed.fillers) == " ".join(action.split())


# --- search ---------------------------------------------------------------------------------


@given(st.integers(0, 30), st.integers(0, 30), st.booleans())
def test_search_finds_a_shortest_way_and_keeps_to_its_nodes(
    start: int, goal: int, guided: bool
) -> None:
    def moves(at: int) -> list[tuple[str, int, float]]:
        return [("up", at + 1, 1.0), ("down", at - 1, 1.0)]

    estimate = (lambda at: abs(goal - at)) if guided else None
    found = search(start, moves, lambda at: at == goal, estimate, nodes=100)
    assert found
    assert len(found.actions) == abs(goal - start)
    assert not search(start, moves, lambda at: False, nodes=20)
    assert search(start, moves, lambda at: False, nodes=20).nodes == 20


def test_search_goes_round_what_is_doubtful() -> None:
    ways = {"a": [("short", "z", 0.1), ("long", "b", 1.0)], "b": [("on", "z", 1.0)]}
    found = search("a", lambda at: ways.get(at, []), lambda at: at == "z")
    assert found.actions == ("long", "on")
    assert search("b", lambda at: ways.get(at, []), lambda at: at == "a").complete


# --- association ----------------------------------------------------------------------------


def _lots(rng: random.Random) -> list[tuple[list[str], list[str]]]:
    words, items = ["warm", "cold", "wet", "dry"], ["toast _", "chill _", "rinse _", "hang _"]
    return [
        ([words[kind], rng.choice("abcdef")], [items[kind], rng.choice(items)])
        for kind in (rng.randrange(4) for _ in range(60))
    ]


def test_planted_ties_are_found() -> None:
    ties = Associations()
    for words, items in _lots(random.Random(1)):
        ties.add(words, items)
    assert ties.best(["warm"], 1)[0].item == "toast _"
    assert ties.best(["wet"], 1)[0].item == "rinse _"


def test_shuffled_ties_are_mostly_none() -> None:
    told = 0
    for seed in range(10):
        rng = random.Random(seed)
        words, items = zip(*_lots(rng), strict=True)
        mixed = list(items)
        rng.shuffle(mixed)
        ties = Associations()
        for some, others in zip(words, mixed, strict=True):
            ties.add(some, others)
        told += len(ties.best(["warm", "cold", "wet", "dry"], 100))
    assert told <= 4  # of 160 that could be


# --- transitions ----------------------------------------------------------------------------


def _boxes(rng: random.Random, shuffled: bool) -> Effects:
    rows = []
    for _ in range(40):
        box, coin = f"box {rng.randrange(9)}", f"coin {rng.randrange(9)}"
        before = (f"open {box}", "look")
        if rng.random() < 0.5:
            rows.append((before, f"open {box}", ("look", f"take {coin} from {box}")))
        else:
            rows.append((before, "look", before))
    after = [row[2] for row in rows]
    if shuffled:
        rng.shuffle(after)
    effects = Effects()
    for (before, action, _), then in zip(rows, after, strict=True):
        effects.learn_step(before, action, then)
    return effects


def test_what_an_action_changes_holds_for_other_names() -> None:
    effects = _boxes(random.Random(3), shuffled=False)
    told = {(e.fact, e.holds) for e in effects.of("open box 77")}
    assert told == {("take _ from box 77", True), ("open box 77", False)}
    assert effects.of("look") == []
    assert effects.needs("open _") == ["open <0>"]
    assert effects.enablers("take _ from _") == [("open _", 1.0)]
    assert effects.after({"open box 5"}, "open box 5") == {"take _ from box 5"}


def test_shuffled_steps_tie_no_names_together() -> None:
    for seed in range(5):
        told = _boxes(random.Random(seed), shuffled=True).of("open box 77")
        assert not [effect for effect in told if effect.holds and "box 77" in effect.fact]


# --- worlds, places, routes -----------------------------------------------------------------


def test_worlds_are_told_apart_and_noise_is_no_world() -> None:
    rng = random.Random(5)
    worlds = Worlds()
    for number in range(24):
        own = [f"room {rng.randrange(6)} of house {number % 4}" for _ in range(5)]
        worlds.add([*own, "a door", rng.choice(["rain", "sun"])])
    groups = worlds.groups()
    assert sorted(len(group) for group in groups) == [6, 6, 6, 6]
    assert all(len({number % 4 for number in group}) == 1 for group in groups)
    noise = Worlds()
    for number in range(24):
        noise.add([f"only {number}", "a door", "rain"])
    assert len(noise.groups()) == 24


def _walk(rng: random.Random, shuffled: bool) -> Routes:
    """A square of nine rooms, walked at random."""
    ways = {"east": (1, 0), "west": (-1, 0), "south": (0, 1), "north": (0, -1)}
    routes = Routes()
    for _ in range(6):
        x, y, taken, seen = 1, 1, [], []
        for _ in range(30):
            action = rng.choice([*ways, "look"])
            dx, dy = ways.get(action, (0, 0))
            if 0 <= x + dx < 3 and 0 <= y + dy < 3:
                x, y = x + dx, y + dy
                taken.append(f"go {action}" if action in ways else action)
                seen.append(f"Room {'abc'[x]}{'abc'[y]}")
        if shuffled:
            rng.shuffle(seen)
        steps = tuple(Step(a, s, ("go east", "go west")) for a, s in zip(taken, seen, strict=True))
        routes.learn(Experience("", "Room bb", ("go east", "go west"), steps))
    return routes


def test_the_map_that_was_walked_is_found_with_its_ways_back() -> None:
    routes = _walk(random.Random(2), shuffled=False)
    assert routes.backs()["go east"] == "go west"
    assert routes.backs()["go south"] == "go north"
    found = routes.route("Room aa", "Room cc")
    assert found and len(found.actions) == 4
    assert found.sure > 0.4


def test_no_sure_way_on_a_map_of_shuffled_moves() -> None:
    for seed in range(5):
        routes = _walk(random.Random(seed), shuffled=True)
        assert routes.route("Room aa", "Room cc").sure < 0.5
        assert len(routes.backs()) <= 1


def test_what_opens_a_way_is_told_before_it() -> None:
    routes = Routes()
    steps = (
        Step("open gate", "It opens.", ("go east",)),
        Step("go east", "Garden", ("go west",)),
        Step("look", "Garden", ("go west",)),
    )
    routes.learn(Experience("", "Yard", ("open gate",), steps))
    way = routes.route("Yard", "Garden")
    assert routes.spelled("Yard", way) == ["open gate", "go east"]
    other = Routes()
    other.merge(routes)
    assert other.route("Yard", "Garden") == way


def test_places_are_ordered_by_what_was_seen_there() -> None:
    rng = random.Random(7)
    seen, mixed = Sightings(), Sightings()
    for _ in range(60):
        place = rng.choice(["shelf", "desk", "floor"])
        seen.looked(f"{place} {rng.randrange(5)}", ["cup"] * (place == "desk"))
        mixed.looked(f"{place} {rng.randrange(5)}", ["cup"] * (rng.random() < 0.3))
    assert seen.order("cup", ["shelf 1", "desk 1", "floor 1"])[0] == "desk 1"
    assert seen.chance("cup", "desk 1") > 0.9 > 0.1 > seen.chance("cup", "shelf 1")
    assert max(mixed.chance("cup", p) for p in ("shelf", "desk", "floor")) < 0.6


# --- whole plans ----------------------------------------------------------------------------


def test_the_planted_plan_wins_the_vote_and_shuffled_ways_have_none() -> None:
    rng = random.Random(4)
    ways, mixed = Ways(), Ways()
    noise = ["wait", "sing", "look", "jump", "sit", "read", "nod", "hum", "rest"]
    for number in range(20):
        plan = [
            f"take cup {number} from shelf {number}",
            "wash cup 1 with soap",
            "give cup 1 to me",
        ]
        at = rng.randrange(3)
        ways.add(["cup"], [*plan[:at], rng.choice(noise), *plan[at:]])
        mixed.add(["cup"], rng.choices(noise, k=1))
    assert [step.pattern for step in ways.vote()] == [
        "take <0> from shelf",
        "wash <0> with soap",
        "give <0> to me",
    ]
    assert mixed.vote() == []


def test_only_what_mattered_of_an_episode_is_kept() -> None:
    steps = (
        Step("sing", "La.", ("sing", "go to desk 1")),
        Step("go to desk 1", "A cup.", ("take cup 1 from desk 1", "sing")),
        Step("sing", "La.", ("take cup 1 from desk 1", "sing")),
        Step("take cup 1 from desk 1", "You have it.", (), 1.0, True),
    )
    episode = Experience("bring a cup", "A room.", ("sing", "go to desk 1"), steps, 1.0)
    assert useful(episode, ["cup"]) == ["go to desk 1", "take cup 1 from desk 1"]


@given(st.lists(st.lists(st.sampled_from(["up", "down", "open box"]), max_size=5), max_size=4))
def test_plans_are_said_in_order_and_word_for_word(plans: list[list[str]]) -> None:
    told = phrasing.in_turn(plans)
    kept = [plan for plan in dict.fromkeys(map(tuple, plans)) if plan]
    assert [
        [said.split(". ", 1)[1] for said in block.splitlines()]
        for block in told.split("\n\n")
        if block
    ] == [list(plan) for plan in kept]


# --- moving among things --------------------------------------------------------------------

ROOM = ["#######", "#.....#", "#.###.#", "#...#E#", "#######"]
WAYS = {"n": (0, -1), "e": (1, 0), "s": (0, 1), "w": (-1, 0)}


def _room(at: tuple[int, int]) -> str:
    rows = [list(row) for row in ROOM]
    rows[at[1]][at[0]] = "A"
    return "\n".join("".join(row) for row in rows)


def _roam(rng: random.Random, shuffled: bool) -> GridModel:
    model = GridModel()
    told = []
    for _ in range(25):
        x, y = rng.choice([(1, 1), (3, 1), (1, 3), (5, 2)])
        for _ in range(12):
            action = rng.choice(list(WAYS))
            dx, dy = WAYS[action]
            sign = ROOM[y + dy][x + dx]
            after = (x, y) if sign == "#" else (x + dx, y + dy)
            won = sign == "E"
            told.append((_room((x, y)), action, _room(after), float(won), won))
            x, y = after
            if won:
                break
    after_all = [row[2:] for row in told]
    if shuffled:
        rng.shuffle(after_all)
    for (seen, action, *_), then in zip(told, after_all, strict=True):
        model.learn_step(seen, action, *then)
    return model


def test_walls_and_the_exit_are_learned_from_a_map_and_the_way_is_found() -> None:
    model = _roam(random.Random(1), shuffled=False)
    assert model.mark == "A"
    assert {a: model.vector(a) for a in WAYS} == WAYS
    found = model.plan(_room((3, 3)))
    assert found.actions == ("w", "w", "n", "n", "e", "e", "e", "e", "s", "s")


def test_nothing_is_planned_from_shuffled_steps() -> None:
    for seed in range(3):
        assert not _roam(random.Random(seed), shuffled=True).plan(_room((3, 3)))


def test_roles_come_from_facts_and_facts_from_words_side_by_side() -> None:
    model = GridModel()
    facts = frozenset({"wall is solid"})
    model._count([("facts", "_ is solid")], "block")
    assert model.chance("tree", frozenset({"tree is solid"}), "block") > 0.5
    assert model.chance("tree", facts, "block") == 0
    spelled = "wall is solid\n" + "\n".join(
        f"word `{word}` {n} steps to the right and 1 step down"
        for n, word in enumerate(["wall", "is", "solid"], 1)
    )
    scene = scenes.read(spelled)
    assert scene is not None
    for _ in range(6):
        model.learn_step(spelled, "wait", spelled)
    assert model.facts_of(facts, scene.things) == facts
    parted = frozenset(((x + (x == 3), y), name) for (x, y), name in scene.things)
    assert model.facts_of(facts, parted) == frozenset()


@given(st.lists(st.tuples(st.sampled_from(["box", "red key"]), st.integers(1, 9)), max_size=5))
def test_offsets_are_read_as_they_are_told(told: list[tuple[str, int]]) -> None:
    text = "\n".join(f"{name} {far} steps to the left and 2 steps up" for name, far in told)
    scene = scenes.read(text)
    assert (scene.things if scene else frozenset()) == {((-far, -2), name) for name, far in told}


def _house(names: list[str], thing: str) -> Experience:
    """A walk through the rooms in order to a thing in the last."""
    moves = [f"leave {name} by the arch" for name in names]
    steps = [
        Step(move, f"{there}\nThis is the {there} of {thing}.", (after,))
        for move, there, after in zip(
            moves, names[1:], [*moves[1:-1], f"lift {thing}"], strict=False
        )
    ]
    steps.append(Step(f"lift {thing}", "It is yours.", (), 1.0))
    first = f"{names[0]}\nThis is the {names[0]} of {thing}."
    return Experience("lift what is asked", first, (moves[0],), tuple(steps), 1.0)


def test_a_way_on_the_map_of_this_world_and_none_in_another() -> None:
    atlas = Atlas()
    for thing in ("harp", "drum", "bell", "horn"):
        atlas.learn(_house(["porch", "attic", "vault"], thing))
    way = ["leave porch by the arch", "leave attic by the arch", "lift drum"]
    assert atlas.way("lift the drum", "porch\nThis is the porch of drum.") == way
    assert atlas.way("lift the drum", "cave\nNobody was ever here.") == []
