"""Blocks for who is asked while acting, and the plan that is told once for all places."""

import asyncio
from dataclasses import replace

from metamem.core.types import Experience, Query, Step
from metamem.core.waiting import Wait
from metamem.designs import Tools
from metamem.designs.blocks import COMBINE, blocks
from metamem.designs.inside import load
from metamem.designs.thinking import phrasing
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, LayerGene, from_block
from metamem.search.recombine.render import render
from tests.designs.running import Embeds

FIRST = ("go", "rest")
HELD = (*FIRST, "blow horn", "cancel")


def thinking(name: str, **slots: str) -> LayerGene:
    layer = draw.plain(next(b for b in blocks("think") if b.name == name))
    for slot, filled in slots.items():
        layer.set_slot(from_block(next(b for b in blocks(slot) if b.name == filled)))
    return layer


def told(
    layers: list[LayerGene], episodes: list[Experience], query: Query, combine: str = "AllParts"
) -> tuple[str, Wait]:
    together = from_block(next(b for b in blocks(COMBINE) if b.name == combine))

    async def ask() -> tuple[str, Wait]:
        memory = load(render(Genome([*layers], together), "A test."))(Tools(Embeds(), 0))
        for episode in episodes:
            await memory.update(episode)
        return await memory.retrieve(query)  # type: ignore[return-value]

    return asyncio.run(ask())


def walk(*steps: Step) -> Experience:
    return Experience("wake them", "A hill.", FIRST, steps, 0.0)


EARLIER = [
    walk(
        Step("go", "A horn is yours.", HELD),
        Step("cancel", "A hill.", FIRST),
        Step("go", "A horn is yours.", HELD),
        Step("cancel", "A hill.", FIRST),
        Step("go", "A horn is yours.", HELD),
    )
] * 3


def test_what_became_possible_is_told_until_it_was_done() -> None:
    layer = thinking("NotYetTried")
    before = Query("wake them", "A hill.", FIRST)
    assert told([layer], EARLIER, before)[0] == ""  # could be done at every start
    came = Step("go", "A horn is yours.", HELD)
    now = Query("wake them", "A horn is yours.", HELD, (came,), "A hill.", FIRST)
    # `cancel` led back to where one was each time, so it is in vain
    assert told([layer], EARLIER, now) == ("1. blow horn", Wait(steps=1, stuck=3))
    done = replace(now, steps=(came, Step("blow horn", "A sound.", HELD)))
    assert told([layer], EARLIER, done)[0] == ""
    # what is always possible in what was lived through is nothing to try
    common = [replace(walk(), actions=HELD)] * 3
    assert told([layer], common, now)[0] == ""


def drawn(at: int, row: str = "......", left: str = "") -> str:
    wall = "#" * (len(row) + len(left) + 2)
    return f"{wall}\n#{left}{row[:at]}@{row[at + 1 :]}#\n{wall}"


def test_a_sign_that_stands_out_is_gone_for_unless_one_was_there() -> None:
    acts = ("east", "west")
    steps = [Step("east", drawn(1), acts), Step("east", drawn(2), acts)]
    steps += [Step("west", drawn(1), acts), Step("west", drawn(0), acts)]
    episodes = [Experience("", drawn(0), acts, (*steps, Step("west", drawn(0), acts)), 0.0)] * 3
    layer = thinking("StandsOut")
    row = "..?..."
    now = Query("", drawn(4, row), acts)
    assert told([layer], episodes, now)[0] == "1. west\n2. west"
    # The map has grown to the left since: the same sign is two cells further right on it.
    was = (Step("east", drawn(3, row), acts), Step("east", drawn(4, row, ".."), acts))
    now = Query("", drawn(4, row, ".."), acts, was, drawn(2, row), acts)
    assert told([layer], episodes, now)[0] == ""


def test_a_memory_is_asked_again_where_the_way_it_tells_ends() -> None:
    steps = (Step("open", "Dark.", ("push",)), Step("push", "Done.", (), 1.0, True))
    lived = [Experience("win", "A door.", ("open",), steps, 1.0)] * 4
    layer = thinking("PaidWay")
    advice, wait = told([layer], lived, Query("win", "A door.", ("open",)))
    assert advice.splitlines()[:2] == ["1. open", "2. push"]
    assert wait == Wait(steps=2, stuck=3)
    silent = told([layer], [], Query("win", "A door.", ("open",)))
    assert silent == ("", Wait(steps=10, stuck=3))


def test_a_plan_for_all_places_takes_the_thing_wherever_it_is() -> None:
    ways = [
        ["go to desk 1", "open desk 1", "take pen from desk 1", "go to bag 1", "put pen in bag 1"],
        ["go to desk 1", "take pen from shelf 2", "go to bag 1", "put pen in bag 1"],
    ]
    assert phrasing.once(ways).splitlines() == [
        "1. take pen",
        "2. go to bag 1 with pen",
        "3. put pen in bag 1",
        "",
        "pen: desk, shelf",
    ]
    twice = [[*way, *way] for way in ways]  # and again, wherever the next one is
    assert phrasing.once(twice).splitlines()[3] == "4. take pen"
    assert phrasing.once([]) == ""
    assert phrasing.once([["jump", "look"]]) == "1. jump\n2. look"


def test_an_open_place_is_one_of_the_kinds_that_ever_stood_there() -> None:
    """The stove held the pan most often, but nobody ever washed at one."""
    episodes = []
    for number in (1, 2, 3, 4):
        first = (f"go to stove {number}", "go to sink 1", "go to shelf 1")
        at = (*first, f"take pan 1 from stove {number}")
        steps = (
            Step(f"go to stove {number}", "You see a pan 1.", at),
            Step(f"take pan 1 from stove {number}", "It is yours.", first),
            Step("go to sink 1", "A sink.", (*first, "wash pan 1 with sink 1")),
            Step("wash pan 1 with sink 1", "It is clean.", first, 1.0, True),
        )
        episodes.append(Experience("wash the pan", "A kitchen.", first, steps, 1.0))
    asked = Query("wash the pan", "A kitchen.", ("go to stove 7", "go to desk 1", "go to sink 3"))
    advice, _ = told([thinking("VotedWay", tell="OnceForAllPlaces")], episodes, asked)
    assert advice.splitlines()[0] == "1. take pan"
    assert "wash pan with sink 3" in advice
    assert "wash pan with stove" not in advice
    assert advice.splitlines()[-1].startswith("pan: stove")


def test_the_next_step_alone_is_told_from_where_one_is() -> None:
    """A pen is on a shelf, on a desk or in a drawer, which has to be opened; it goes into the bag."""
    goal, room = "put a pen in a bag", "A room."
    start = ("go to shelf 1", "go to desk 1", "go to drawer 1", "go to bag 1")

    def lived(place: str) -> tuple[Step, ...]:
        open_it, take = f"open {place}", f"take pen 1 from {place}"
        found = Step(f"go to {place}", "You see a pen 1.", (*start, take))
        if "drawer" in place:
            shut = Step(f"go to {place}", "It is shut.", (*start, open_it))
            look = (shut, Step(open_it, "You see a pen 1.", (*start, take)))
        else:
            look = (found,)
        return (
            *look,
            Step(take, "It is yours.", start),
            Step("go to bag 1", "A bag.", (*start, "put pen 1 in bag 1")),
            Step("put pen 1 in bag 1", "Done.", start, 1.0, True),
        )

    places = ("shelf 1", "desk 1", "drawer 1")
    episodes = [Experience(goal, room, start, lived(place), 1.0) for place in places * 2]
    layer = thinking("VotedWay", tell="NextStep")

    def next_after(*steps: Step) -> str:
        now = (steps[-1].observation, steps[-1].actions) if steps else (room, start)
        asked = Query(goal, *now, steps, room, start)
        return told([layer], episodes, asked)[0].removeprefix("1. ")

    done: list[Step] = []
    looked = []
    while next_after(*done).startswith("go to") and len(looked) < 3:  # nothing is there
        looked.append(next_after(*done).removeprefix("go to "))
        done.append(Step(f"go to {looked[-1]}", "Nothing.", start))
    assert sorted(looked) == sorted(places)
    for place in places:  # from where it was found on, each step as it was done
        way = lived(place)
        for n in range(1, len(way)):
            assert next_after(*way[:n]) == way[n].action
    assert told([layer], [], Query(goal, room, start))[0] == ""
