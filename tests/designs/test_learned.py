"""The learned designs that come along: listed, opened, and silent where they have lived through nothing."""

import json

import pytest

import metamem
from metamem.cli.main import run
from metamem.core.errors import UnknownName
from metamem.core.types import Experience, Message, Query, Step
from metamem.designs import library
from metamem.evaluation.jobs import Spec
from tests.runs.test_runs import SMALL

LEARNED = (
    "alfworld",
    "alfworld_acting",
    "alfworld_once",
    "alfworld_when",
    "baba",
    "baba_once",
    "baba_when",
    "coding",
    "coding_when",
    "dialogue",
    "dialogue_once",
    "minihack",
    "minihack_once",
    "textworld",
    "textworld_when",
)
QUERY = Query("put a hot mug in the box", "You see a mug 1 and a box 2.", ("go to box 2", "look"))


def test_there_is_one_at_least_for_each_domain_of_worlds(capsys) -> None:
    assert library.learned_names() == [f"learned/{name}" for name in LEARNED]
    assert run(["designs", "--json"]) == 0
    listed = {row["name"]: row["about"] for row in json.loads(capsys.readouterr().out)}
    assert all(listed[name] for name in library.learned_names())
    with pytest.raises(UnknownName, match="no design called"):
        library.load("learned/nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("name", library.learned_names())
def test_it_says_nothing_without_experience(name: str) -> None:
    with metamem.open_memory(name) as memory:
        assert memory.retrieve(QUERY.goal, QUERY.observation, QUERY.actions) in ("", None)


@pytest.mark.slow
def test_one_can_be_lived_with() -> None:
    steps = (
        Step("go to box 2", "On the box 2, you see a mug 1.", ("take mug 1 from box 2",)),
        Step("take mug 1 from box 2", "You have the mug 1.", ("put mug 1 in box 2",)),
        Step("put mug 1 in box 2", "Done.", (), 1.0, True),
    )
    with metamem.open_memory("learned/alfworld") as memory:
        for _ in range(4):
            memory.update(Experience("put a mug in box", "A room.", ("go to box 2",), steps, 1.0))
        told = memory.retrieve("put a mug in box", "A room.", ("go to box 2",))
    assert "mug" in told and "box 2" in told


@pytest.mark.slow
def test_one_that_is_asked_while_acting_tells_the_next_action() -> None:
    steps = (
        Step("go to box 2", "On the box 2, you see a mug 1.", ("take mug 1 from box 2",)),
        Step("take mug 1 from box 2", "You have the mug 1.", ("go to bin 1",)),
        Step("go to bin 1", "The bin 1 is empty.", ("put mug 1 in bin 1",)),
        Step("put mug 1 in bin 1", "You put the mug 1 in the bin 1.", (), 1.0, True),
    )
    start = ("go to bin 1", "go to box 2")
    with metamem.open_memory("learned/alfworld_acting") as memory:
        for _ in range(4):
            memory.update(Experience("put a mug in bin", "A room.", start, steps, 1.0))
        beside = memory.acting("put a mug in bin", "A room.", start)
        for step in steps:
            assert beside.advice == f"Next: {step.action}"
            beside.saw(step.action, step.observation, step.actions, reward=step.reward)


@pytest.mark.slow
def test_one_that_plans_anew_searches_and_then_brings_what_was_found() -> None:
    """It learns what actions do from what they make possible; no word of theirs is known to it."""
    start = ("walk to bin 1", "walk to box 1", "walk to box 2")
    at_box = ("walk to bin 1", "walk to box 1", "grab mug 1 from box 2")
    held = ("walk to bin 1", "walk to box 1", "drop mug 1 at box 2")
    at_bin = ("walk to box 1", "walk to box 2", "drop mug 1 at bin 1")
    left = ("walk to box 1", "walk to box 2", "grab mug 1 from bin 1")
    seen = "At the box 2 is a mug 1 and a mug 2."
    steps = (
        Step("walk to box 1", "The box 1 is empty.", ("walk to bin 1", "walk to box 2")),
        Step("walk to box 2", seen, (*at_box, "grab mug 2 from box 2")),
        Step("grab mug 1 from box 2", "You have the mug 1.", held),
        Step("drop mug 1 at box 2", "You left it.", (*at_box, "grab mug 2 from box 2")),
        Step("grab mug 1 from box 2", "You have the mug 1.", held),
        Step("walk to bin 1", "The bin 1 is empty.", at_bin),
        Step("drop mug 1 at bin 1", "You left it.", left, 1.0, True),
    )
    with metamem.open_memory("learned/alfworld_when") as memory:
        for _ in range(4):
            memory.update(Experience("put a mug in bin", "A room.", start, steps, 1.0))
        beside = memory.acting("put a mug in bin", "A room.", start)
        assert beside.advice.splitlines()[:2] == ["mug:", "1. walk to box 1"]
        beside.saw("walk to box 1", "The box 1 is empty.", ("walk to bin 1", "walk to box 2"))
        beside.saw("walk to box 2", seen, (*at_box, "grab mug 2 from box 2"))
        assert beside.advice.splitlines() == [
            "mug:",
            "1. grab mug 1 from box 2",
            "2. walk to bin 1",
            "3. drop mug 1 at bin 1",
        ]


def seen_from(x: int, y: int) -> str:
    """A map of three statements, a wall and a flag, as one sees it from there."""
    spelled = ("hero is mine", "flag is prize", "wall is solid")
    rows = enumerate(line.split() for line in spelled)
    at = {(column, row): f"`{word}`" for row, words in rows for column, word in enumerate(words)}
    lines = list(spelled)
    for (column, row), name in (at | {(1, 4): "wall", (2, 5): "flag"}).items():
        across, down = column - x, row - y
        ways = [f"{abs(across)} {'right' if across > 0 else 'left'}"] * bool(across)
        ways += [f"{abs(down)} {'down' if down > 0 else 'up'}"] * bool(down)
        lines += [f"{name} {' and '.join(ways)}"] if ways else []
    return "\n".join(lines)


@pytest.mark.slow
def test_one_that_moves_among_things_goes_round_what_holds_up_to_what_was_rewarded() -> None:
    """What a statement makes of a thing, and which words are directions, it learned from steps."""
    ways = ("up", "down", "left", "right")
    steps = (
        Step("right", seen_from(0, 4), ways),
        Step("down", seen_from(0, 5), ways),
        Step("right", seen_from(1, 5), ways),
        Step("right", seen_from(2, 5), ways, 1.0, True),
    )
    with metamem.open_memory("learned/baba_when") as memory:
        memory.update(Experience("go", seen_from(0, 4), ways, steps, 1.0))
        told = memory.retrieve("go", seen_from(1, 3), ways)
    assert told.splitlines() == ["1. right", "2. down", "3. down"]


@pytest.mark.slow
def test_one_that_saw_pieces_of_code_tells_a_change_that_it_tried() -> None:
    """Of two pieces that fit, the one under which what is asserted holds; told as JSON."""
    seen = "ranks.py, 6 lines:\n1 def top(rows):\n2     return max(rows)\n3 \n4 \n5 def low(rows):\n6     return min(rows)"
    code = "scores.py, 5 lines:\n1 def best(points):\n2     kept = [p for p in points if f'{p}']\n3     return min(kept)"
    failed = "FAILED test_best\n    assert best([3, 0, 5]) == 5\n1 failed"
    told = []
    for lived in (True, False):
        with metamem.open_memory("learned/coding_when") as memory:
            if lived:
                step = Step("read_file ranks.py", seen)
                memory.update(Experience("ranks are wrong", "", (), (step,), 0.0))
            beside = memory.acting("best gives the worst", "", ())
            beside.saw("run tests", failed)
            beside.saw("read_file scores.py", code)
            told.append(beside.advice)
    change = json.loads(told[0].split("\n")[0])
    assert change["path"] == "scores.py"
    assert change["find"].strip() == "return min(kept)"
    assert change["replace"].strip() == "return max(kept)"
    assert told[1] == ""


def drawn(x: int, y: int) -> str:
    """A pond with a tree behind it, as one sees it from there."""
    rows = [list("......"), list("..oo.T"), list("......")]
    rows[y][x] = "@"
    picture = "\n".join("".join(row) for row in rows)
    far = f"tree {'far ' * (x < 3)}east\n" if y == 1 else ""
    return f"seen:\n{far}you: one called Me (x={x}, y={y})\nmap:\n{picture}"


@pytest.mark.slow
def test_one_that_reads_maps_tells_the_way_round_what_ended_badly() -> None:
    """Which sign is one's own, what moves it, what drowns and what a tree looks like, it learned."""
    moves = ("east", "west", "north", "south")
    round_it = ((0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (4, 1))
    ways = ("south", "east", "east", "east", "east", "north")
    steps = [Step(way, drawn(*at), moves) for way, at in zip(ways, round_it[1:], strict=True)]
    won = Experience("Reach the tree", drawn(0, 1), moves, tuple(steps), 0.0)
    back = tuple(Step("west", drawn(x, 0), moves) for x in (3, 2, 1))
    away = (Step("north", drawn(4, 0), moves), *back, Step("south", drawn(1, 1), moves))
    drowned = (*away[1:], Step("east", "You drown.", (), 0.0, True))
    with metamem.open_memory("learned/minihack_once") as memory:
        for _ in range(3):
            memory.update(won)
            memory.update(Experience("Reach the tree", drawn(4, 1), moves, away, 0.0))
            memory.update(Experience("Reach the tree", drawn(4, 0), moves, drowned, 0.0))
        told = memory.retrieve("Reach the tree", drawn(1, 1), moves).splitlines()
    assert len(told) == 6 and told[0].split()[1] in ("north", "south")
    assert sorted(line.split()[1] for line in told[1:5]) == ["east"] * 4


@pytest.mark.slow
def test_one_that_is_asked_once_tells_a_whole_plan_as_often_as_the_goal_says() -> None:
    """How often, and by which words, it takes from the goal; what and where, from what it lived through."""
    start = ("walk to bin 1", "walk to box 1", "walk to shelf 1", "walk to rack 1")

    def lived(place: str) -> Experience:
        steps = (
            Step(f"walk to {place}", "There is a mug 1.", (*start, f"grab mug 1 from {place}")),
            Step(f"grab mug 1 from {place}", "You have it.", (*start, f"drop mug 1 at {place}")),
            Step("walk to bin 1", "The bin 1 is empty.", (*start, "drop mug 1 at bin 1")),
            Step("drop mug 1 at bin 1", "You left it.", (), 1.0, True),
        )
        return Experience("put a mug in bin", "A room.", start, steps, 1.0)

    with metamem.open_memory("learned/alfworld_once") as memory:
        for place in ("box 1", "shelf 1", "rack 1"):
            memory.update(lived(place))
        told = [memory.retrieve(f"put {n} in bin", "A room.", start) for n in ("a mug", "two mug")]
    plan, places = told[0].split("\n\n")
    assert [line.partition(". ")[2] for line in plan.splitlines()] == [
        "grab mug",
        "walk to bin 1 with mug",
        "drop mug at bin 1",
    ]
    assert places.startswith("mug") and "box" in places
    assert told[1].count("grab mug") == 2


@pytest.mark.slow
def test_one_that_heard_people_tells_the_latest_line_of_who_is_asked_about() -> None:
    said = (
        Message("Ada", "I moved to Porto last week.", "day 1"),
        Message("Ben", "I moved to Lyon long ago.", "day 1"),
        Message("Ada", "The weather is grey today.", "day 2"),
        Message("Ada", "I moved to Turin after all.", "day 9"),
    )
    with metamem.open_memory("learned/dialogue_once") as memory:
        memory.update(Experience("", "", (), (), 0.0, said))
        told = [memory.retrieve(q, "", ()) for q in ("Where has Ada moved to?", "Who is Eve?")]
    assert told == ["day 9, Ada: I moved to Turin after all.", ""]


@pytest.mark.slow
def test_one_that_knows_no_house_but_its_own_finds_the_way_back() -> None:
    """Which moves lead back it learned in another house; where things are, it has from this one alone."""
    hall, yard = "-= Hall =-\nA hall.", "-= Yard =-\nA yard with a bell."
    steps = (
        Step("go east", yard, ("go west", "ring bell")),
        Step("go west", hall, ("go east",)),
        Step("go east", yard, ("go west", "ring bell")),
        Step("ring bell", "It rings.", (), 1.0, True),
    )
    attic, loft = "-= Attic =-\nAn attic.", "-= Loft =-\nA loft with a bell."
    told = []
    for lived in (4, 0):
        with metamem.open_memory("learned/textworld_when") as memory:
            for _ in range(lived):
                memory.update(Experience("ring the bell", hall, ("go east",), steps, 1.0))
            beside = memory.acting("ring the bell", attic, ("go east", "go west"))
            told.append(beside.advice)
            if lived:
                beside.saw("go west", loft, ("go east", "ring bell"))
                assert "ring bell" in beside.advice
    assert "go " in told[0] and not told[1]


@pytest.mark.slow
def test_a_search_begins_with_one_and_must_beat_it(tmp_path) -> None:
    own = {**SMALL, "designs": 2, "control": False, "executor": Spec("inline"), "home": tmp_path}
    found = metamem.learn("toy", begin=("learned/alfworld",), **own)
    assert "learned/alfworld" in {row.name for row in found.summary.tables["test"]}
    assert run(["learn", "toy", "--from", "learned", "--home", str(tmp_path)]) == 2
