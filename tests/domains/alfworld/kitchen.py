"""A tiny kitchen, written as a game file, in which every rule can be met."""

from typing import Any

from metamem.domains.alfworld.engine import AlfworldWorld
from metamem.domains.alfworld.game import parse_game

RECEPTACLES = """
fridge_bar_1 fridge loc_bar_1 openable
microwave_bar_1 microwave loc_bar_2 openable
sink_bar_1_bar_sinkbasin sinkbasin loc_bar_3 -
drawer_bar_1 drawer loc_bar_4 openable
drawer_bar_2 drawer loc_bar_4 openable
countertop_bar_1 countertop loc_bar_4 -
sidetable_bar_1 sidetable loc_bar_5 -
"""
PICKED = "pickupable"
FOOD = "pickupable cleanable heatable coolable sliceable"
# id, type, where it is ("+" for two places), recorded location, fixed facts
THINGS = f"""
apple_bar_1 apple fridge_bar_1 loc_bar_1 {FOOD}
apple_bar_2 apple countertop_bar_1 loc_bar_4 {FOOD}
knife_bar_1 knife drawer_bar_1 loc_bar_4 pickupable cleanable
mug_bar_1 mug sidetable_bar_1+countertop_bar_1 loc_bar_5 pickupable cleanable heatable coolable isreceptacleobject
pen_bar_1 pen sidetable_bar_1 loc_bar_5 {PICKED}
pen_bar_2 pen - loc_bar_5 {PICKED}
bread_bar_1 bread - loc_bar_5 {FOOD}
desklamp_bar_1 desklamp sidetable_bar_1 loc_bar_5 toggleable
sink_bar_1 sink - loc_bar_3
"""
ACCEPTS = (
    "fridge apple, fridge mug, microwave apple, sinkbasin apple, countertop apple, countertop mug,"
    " countertop knife, drawer pen, drawer knife, sidetable apple, sidetable mug, sidetable pen"
)
PLACE = (
    "(:goal (and (exists (?r - receptacle) (exists (?o - object) (and (inReceptacle ?o ?r)"
    " (objectType ?o {thing}Type) (receptacleType ?r {target}Type) {more})))))"
)
LOOK = (
    "(:goal (and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and"
    " (objectType ?ot DeskLampType) (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l)"
    " (atLocation ?a ?l) (inReceptacle ?ot ?r))) (exists (?o - object ?a - agent) (and"
    " (objectType ?o PenType) (holds ?a ?o)))))"
)
TWO = PLACE.format(
    thing="Apple",
    target="SinkBasin",
    more="(exists (?o2 - object) (and (not (= ?o ?o2)) (objectType ?o2 AppleType)"
    " (receptacleType ?r SinkBasinType) (inReceptacle ?o2 ?r)))",
)


def place(thing: str, target: str, more: str = "") -> str:
    return PLACE.format(thing=thing, target=target, more=more)


def content(goal: str, extra: str = "", sentence: str = "put some pen on drawer") -> dict[str, Any]:
    facts = ["atLocation agent1 loc_bar_0", "inReceptacleObject pen_bar_1 mug_bar_1"]
    for line in RECEPTACLES.strip().splitlines():
        identifier, kind, location, openable = line.split()
        facts += [f"receptacleType {identifier} {kind}Type"]
        facts += [f"receptacleAtLocation {identifier} {location}"]
        facts += [f"openable {identifier}"] if openable == "openable" else []
    for line in THINGS.strip().splitlines():
        identifier, kind, places, location, *fixed = line.split()
        facts += [f"objectType {identifier} {kind}Type"]
        facts += [f"objectAtLocation {identifier} {location}"]
        facts += [f"inReceptacle {identifier} {p}" for p in places.split("+") if p != "-"]
        facts += [f"{fact} {identifier}" for fact in fixed]
    facts += ["canContain {}Type {}Type".format(*pair.split()) for pair in ACCEPTS.split(",")]
    init = "\n".join(f"({fact})" for fact in facts) + extra
    return {
        "pddl_problem": f"(define (problem p)\n(:init\n{init}\n)\n{goal})",
        "grammar": f'"rhs": "Your task is to: {sentence}."',
        "walkthrough": [],
    }


def kitchen(goal: str = "", extra: str = "") -> AlfworldWorld:
    return AlfworldWorld(parse_game(content(goal or place("Pen", "Drawer"), extra)))
