"""Reading game files, and refusing what is none."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.errors import DataError
from metamem.domains.alfworld.game import load_game, parse_game
from tests.domains.alfworld.kitchen import content, place

GOAL = place("Pen", "Drawer")


def edited(change: Callable[[str], str]) -> dict[str, Any]:
    game = content(GOAL)
    game["pddl_problem"] = change(game["pddl_problem"])
    return game


def test_upper_case_is_read_as_lower_case():
    game = content(GOAL)
    shouted = {**game, "pddl_problem": game["pddl_problem"].upper()}
    assert parse_game(shouted) == parse_game(game)


def test_ids_that_are_only_mentioned_take_a_number():
    cracked = parse_game(content(GOAL, "(pickupable apple_bar_3)"))
    assert [t.name for t in cracked.things if t.type == "apple"] == ["apple 3", "apple 2"]


@pytest.mark.parametrize(
    ("game", "complaint"),
    [
        ([], "list indices"),
        ({}, "'pddl_problem' is missing"),
        ({**content(GOAL), "pddl_problem": 3}, "'int' object"),
        ({**content(GOAL), "pddl_problem": "(define)"}, "no (:init"),
        ({**content(GOAL), "grammar": "none"}, "Your task is to"),
        (edited(lambda p: p.replace("(openable fridge_bar_1)", "(magic fridge_bar_1)")), "magic"),
        (edited(lambda p: p.replace("(openable fridge_bar_1)", "(openable a b c)")), "plain fact"),
        (
            edited(lambda p: p.replace("(receptacleAtLocation fridge_bar_1 loc_bar_1)", "")),
            "fridge",
        ),
        (edited(lambda p: p.replace("(objectType pen_bar_1 penType)", "")), "pen_bar_1"),
        (
            edited(lambda p: p.replace("agent1 loc_bar_0", "agent1 loc_bar_1")),
            "without a receptacle",
        ),
        (edited(lambda p: p.replace("(atLocation agent1 loc_bar_0)", "")), "exactly one location"),
        (edited(lambda p: p.replace("(inReceptacle ?o ?r)", "(isSliced ?o)")), "six known kinds"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, game, complaint):
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(game))
    with pytest.raises(DataError) as refusal:
        load_game(path)
    assert str(path) in str(refusal.value)
    assert complaint in str(refusal.value)


def test_cut_and_missing_files_are_refused(tmp_path):
    path = tmp_path / "game.tw-pddl"
    with pytest.raises(DataError, match="cannot read"):
        load_game(path)
    path.write_text(json.dumps(content(GOAL))[:-40])
    with pytest.raises(DataError, match="not JSON"):
        load_game(path)
    path.write_bytes(b"\xff\x00")
    with pytest.raises(DataError, match="not JSON"):
        load_game(path)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_problems_are_read_or_refused_but_never_crash(data):
    text = content(GOAL)["pddl_problem"]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 200)))
    damaged = text[:start] + data.draw(st.sampled_from(["", "(", ")", " x ", "?o"])) + text[end:]
    try:
        parse_game({**content(GOAL), "pddl_problem": damaged})
    except DataError as refusal:
        assert "not a readable ALFWorld game" in str(refusal)
