"""The six kinds of task: how a goal is recognised, written down, and put into a sentence."""

import re
from dataclasses import dataclass

LOOK = "look_at_obj_in_light"
PLACE = "pick_and_place_simple"
CLEAN = "pick_clean_then_place_in_recep"
COOL = "pick_cool_then_place_in_recep"
HEAT = "pick_heat_then_place_in_recep"
TWO = "pick_two_obj_and_place"

SENTENCES = {
    LOOK: ("look at {object} under the {target}", "examine the {object} with the {target}"),
    PLACE: ("put a {object} in {target}", "put some {object} on {target}"),
    CLEAN: ("put a clean {object} in {target}", "clean some {object} and put it in {target}"),
    COOL: ("put a cool {object} in {target}", "cool some {object} and put it in {target}"),
    HEAT: ("put a hot {object} in {target}", "heat some {object} and put it in {target}"),
    TWO: ("put two {object} in {target}", "find two {object} and put them in {target}"),
}
KINDS = tuple(SENTENCES)

_PLACING = frozenset({"inreceptacle", "objecttype", "receptacletype"})
_LIGHTING = frozenset(
    [
        "objecttype",
        "toggleable",
        "istoggled",
        "receptacleatlocation",
        "atlocation",
        "inreceptacle",
        "holds",
    ]
)
# A goal is known by the predicates it uses; anything else is refused rather than misread.
_KIND_BY_PREDICATES = {
    _LIGHTING: LOOK,
    _PLACING: PLACE,
    _PLACING | {"="}: TWO,
    _PLACING | {"cleanable", "isclean"}: CLEAN,
    _PLACING | {"coolable", "iscool"}: COOL,
    _PLACING | {"heatable", "ishot"}: HEAT,
}

_PREDICATE = re.compile(r"\(\s*(\w+|=)\s+\?")
_TYPED = re.compile(r"\(\s*(?:objecttype|receptacletype)\s+\?(\w+)\s+(\w+)\s*\)")
_TOGGLED = re.compile(r"\(\s*istoggled\s+\?(\w+)\s*\)")


@dataclass(frozen=True, slots=True)
class Goal:
    """What must hold at the end. `target` is a receptacle type, or a lamp type for LOOK."""

    kind: str
    object: str
    target: str

    def sentences(self) -> tuple[str, ...]:
        return tuple(s.format(object=self.object, target=self.target) for s in SENTENCES[self.kind])


def parse_goal(block: str) -> Goal:
    """The goal in a lower-case PDDL goal block; ValueError where it is none of the six kinds."""
    kind = _KIND_BY_PREDICATES.get(frozenset(_PREDICATE.findall(block)))
    if kind is None:
        raise ValueError("the goal is none of the six known kinds")
    types: dict[str, str] = {v: t.removesuffix("type") for v, t in _TYPED.findall(block)}
    if kind == LOOK:
        (lamp,) = _TOGGLED.findall(block)
        target = types.pop(lamp)
    else:
        target = types.pop("r")
    if len(set(types.values())) != 1:
        raise ValueError("the goal names more than one type of object")
    return Goal(kind, next(iter(types.values())), target)


def goal_block(goal: Goal) -> str:
    """The goal as PDDL, as `parse_goal` and the official engine read it."""
    if goal.kind == LOOK:
        body = (
            "(exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and"
            f" (objecttype ?ot {goal.target}type) (toggleable ?ot) (istoggled ?ot)"
            " (receptacleatlocation ?r ?l) (atlocation ?a ?l) (inreceptacle ?ot ?r)))"
            f" (exists (?o - object ?a - agent) (and (objecttype ?o {goal.object}type)"
            " (holds ?a ?o)))"
        )
    else:

        def inside(variable: str) -> str:
            return (
                f"(inreceptacle ?{variable} ?r) (objecttype ?{variable} {goal.object}type)"
                f" (receptacletype ?r {goal.target}type)"
            )

        extra = {
            CLEAN: " (cleanable ?o) (isclean ?o)",
            COOL: " (coolable ?o) (iscool ?o)",
            HEAT: " (heatable ?o) (ishot ?o)",
            TWO: f" (exists (?o2 - object) (and (not (= ?o ?o2)) {inside('o2')}))",
        }.get(goal.kind, "")
        body = f"(exists (?r - receptacle) (exists (?o - object) (and {inside('o')}{extra})))"
    return f"(:goal (and {body}))"
