"""The settings of published work on learned memory designs, as data: one preset a domain.

A preset only fills in ordinary settings (of the domain, of `Rules`, of `LearnConfig`), which the
run then keeps like any others; whatever is said besides it wins. `ALMA` holds those of the
original ALMA, as its code has them. What cannot be had exactly is told in `differs`, and shown by
`metamem domains show NAME`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Preset:
    """What a domain's published experiments were played with."""

    domain: Settings  # of the domain's constructor
    rules: Settings  # of `Rules`
    limits: Settings  # of the jail
    search: Settings  # of `LearnConfig`, beyond the others here
    budget: Settings  # of the search
    differs: tuple[str, ...]  # what is not the same here, in sentences

    def learning(self) -> dict[str, Any]:
        """Settings for `metamem.learn`."""
        return {**self.search, **self.budget, **self.evaluating()}

    def evaluating(self) -> dict[str, Any]:
        """Settings for `metamem.evaluate` and its relatives."""
        return {
            "domain_settings": dict(self.domain),
            "rules": Rules(**self.rules),
            "limits": dict(self.limits),
        }


NOTHING = Preset({}, {}, {}, {}, {}, ())


# --- ALMA -------------------------------------------------------------------------------------

_RULES: Settings = {
    "rollout": "frozen",  # its `batched`: one memory for all, no updates while deploying
    "repeats": 3,  # the deployed half is played three times
    "tasks_from": "alma",  # half of the split is collected, the other half deployed
    # It cuts no advice. No message out of the jail is longer than 1 MiB, which is fewer tokens
    # than this unless it is all punctuation.
    "advice_tokens": 1_000_000,
}
_LIMITS: Settings = {
    "retrieve_cpu": 300.0,  # 300 s on retrieve, on the clock; ours are seconds of CPU
    "update_cpu": 300.0,  # none on update; a hang must end, so it gets as long as retrieve
    "wall": 300.0,  # the same by the clock, not counting the wait for models
    "tool_calls": 10_000,  # designs may call embedders and stores without bound
    "model_calls": 1_000,  # and models likewise
}
_SEARCH: Settings = {
    "batch": 5,  # at most five parents a step, one child each
    "selector": Spec("alma", {"slope": 1.0, "alpha": 0.5, "tau": 0.5}),  # lambda, alpha, tau
    "racing": False,  # every design is played to the end
    "control": False,  # no random arm
    "confirm": 1,  # the best design is the one with the best mean on train ...
    "confirm_seeds": 0,  # ... which is not looked at again on other tasks
    "shortlist": 1,
    "final_repeats": 3,
}
_BUDGET: Settings = {
    "designs": 43,  # its archive after ten steps where nothing fails: 1, 2, 4, 8, 13, 18 ... 43
}
_SHARED = (
    "The search starts from no memory and the human designs; ALMA's from one design that its model"
    " writes from nothing.",
    "A proposal is tried on 8 experiences and 3 tasks in the jail, and repaired up to 3 times;"
    " ALMA plays 2 + 9 whole episodes in each of up to 3 trials.",
    "What the machine or a model's server causes is retried and never scored; ALMA scores it 0.",
    "Halves, levels and luck come from our seed; ALMA's shuffle of 42 is not repeated.",
    "Afterwards the learned design goes before the gate on valid, which ALMA does not have; that"
    " changes nothing about which design is learned.",
    "Agents, proposers and models are not part of this: for the paper's say --agent llm --proposer"
    " llm --model agent=openai:gpt-5-nano/low --model memory=openai:gpt-4o-mini --model"
    " meta=openai:gpt-5. ALMA waits 300 s for an answer, metamem as long as the model's setting"
    " `seconds` says.",
)
# Valid is ours. Its deployed half has 30 tasks, the fewest that the gate decides on.
_VALID = 60


def _alma(domain: Settings, max_steps: int, *differs: str) -> Preset:
    rules = {**_RULES, "max_steps": max_steps}
    return Preset(domain, rules, _LIMITS, _SEARCH, _BUDGET, (*differs, *_SHARED))


ALMA: Mapping[str, Preset] = {
    "alfworld": _alma(
        {
            "train": 30,  # 15 collected + 15 deployed x 3
            "valid": _VALID,
            "test": 140,  # valid_seen: 70 + 70 x 3
            "shift": 134,  # valid_unseen: 70 of valid_seen collected, 67 deployed x 3
        },
        30,  # the code's; the paper is reported to say 100, its engine stops at 50
        "The 30 training games are drawn by seed; ALMA takes the first 30 in the order in which the"
        " disk happens to list them.",
        "The games are the published ones where --data or ALFWORLD_DATA names their folder, else"
        " as many generated ones.",
    ),
    "textworld": _alma(
        {
            "admissible": False,  # commands are free text, none are shown
            "size": "balrog",  # where games are generated: those of the benchmark it plays
            "houses": 51,  # a game for each task of the next three
            "train": 24,  # 12 + 12 x 3
            "valid": 1,  # the pool has 50 games, and ALMA uses all of them for the other two
            "test": 26,  # 13 + 13 x 3
            "shift_houses": 25,
            "away": "games",
            "shift": 25,  # coin collector, which ALMA leaves out
        },
        80,
        "With the published games (--data FOLDER) one of the 50 goes to valid, so test has 25: 12"
        " collected, 13 deployed. The gate never promotes on a single task.",
        "No commands are shown, so only an agent that writes its own can play: --agent llm.",
        "The goal is one sentence for agent and memory alike, and never names the route.",
    ),
    "baba": _alma(
        {
            "train": 26,  # 13 + 13 x 3
            "valid": _VALID,
            "test": 27,  # 13 + 14 x 3
            "shift": 14,  # a level of each id; ALMA has no such split
            "parity": True,  # the texts with their oddities
        },
        20,
        "51 ids (two need colour rules), 37 of them at home and 14 kept for shift; ALMA splits all"
        " 53 ids, so its test has ids that train has not. Here test has other levels of the same"
        " ids.",
    ),
    "minihack": _alma(
        {
            "train": 34,  # 17 + 17 x 3
            "valid": _VALID,
            "test": 80,  # 40 + 40 x 3
            "shift": 11,  # 5 corridors, 3 quests, 3 Boxoban; set apart there and never run
        },
        100,
        "Splits share games and differ in levels; ALMA splits by game, 34 to train and 80 to test.",
        "Agents are shown the actions that could do something now, in words, and characters are"
        " each game's own; ALMA shows every action of the game.",
        "Shift has corridors and quests alone unless --data names a folder of Boxoban levels.",
    ),
}
PARITIES: Mapping[str, Mapping[str, Preset]] = {"alma": ALMA}


def preset(parity: str, domain: str) -> Preset:
    """The preset of a domain under the name of the work that it repeats."""
    if parity not in PARITIES:
        raise UsageError(f"no parity called {parity!r}", hint=f"known: {', '.join(PARITIES)}")
    if domain not in PARITIES[parity]:
        raise UsageError(
            f"{parity} has no settings for the domain {domain!r}",
            hint=f"it has some for: {', '.join(PARITIES[parity])}",
        )
    return PARITIES[parity][domain]
