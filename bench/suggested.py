"""Whether suggestions come where they are relevant, and nowhere else: a labelled set, written here.

    python -m bench.suggested [--json]

Sessions of the past teach lessons (`bench.suggested_cases`). Then failures and first prompts come as hooks
hand them to the daemon, relevant ones and others, each in a session of its own and with nothing withheld.
Told is right where the text holds what worked for that failure; anything told to the others is wrong.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.suggested_cases import (
    LATER_OTHER_FAILURES,
    LATER_OTHER_PROMPTS,
    LATER_RELEVANT_FAILURES,
    LATER_RELEVANT_PROMPTS,
    LESSONS,
    OTHER_FAILURES,
    OTHER_PROMPTS,
    Run,
)
from metamem.core.access import Scope
from metamem.foundry.failures import store
from metamem.foundry.failures.advising import Advising
from metamem.foundry.failures.tables import FAILURES
from metamem.foundry.words import Trace, Use
from metamem.service.access.scopes import make_scope
from metamem.service.attach.hooked import Moment, heard
from metamem.service.database import FILE, Database, now_ms

SCOPE = Scope("local", "project", "shop")
NEVER = 1e-12  # is withheld
_DAY = 86_400_000


def learned(database: Database) -> set[str]:
    """Every lesson, met in two sessions. What was understood of them: the failures that were resolved."""
    began = now_ms() - 20 * _DAY
    with database.writing() as execute:
        number = make_scope(execute, SCOPE)
        for which, lesson in enumerate(LESSONS):
            for again, goal in enumerate(lesson.goals):
                runs = (lesson.failed, *lesson.worked)
                uses = tuple(_use(str(n), run, began + n) for n, run in enumerate(runs))
                session = f"past-{which}-{again}"
                trace = Trace(str(SCOPE), "claude-code", session, uses, {"p": goal}, ended_at=began)
                store.keep(execute, number, trace)
        texts = execute("SELECT text FROM resolutions WHERE sessions >= 2 AND text <> ''")
    return {lesson.told for lesson in LESSONS if any(lesson.told in text for (text,) in texts)}


def _use(one: str, run: Run, at: int) -> Use:
    command, said, code = run
    given, said = {"command": command}, f"Exit code {code}\n{said}" if code else said
    return Use(one, "Bash", given, said, said if code else "", bool(code), code, at, prompt="p")


def failed(adviser: Advising, session: str, run: Run) -> str:
    command, said, code = run
    about = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": session}
    if code:
        told = {"hook_event_name": "PostToolUseFailure", "error": f"Exit code {code}\n{said}"}
    else:
        told = {"hook_event_name": "PostToolUse", "tool_response": said}
    return _heard(adviser, "after", session, {**about, **told})


def prompted(adviser: Advising, session: str, prompt: str) -> str:
    return _heard(adviser, "prompt", session, {"prompt": prompt})


def _heard(adviser: Advising, moment: Moment, session: str, given: dict[str, Any]) -> str:
    data = json.dumps({"session_id": session, "cwd": "/home/ada/shop", **given}).encode()
    return adviser.heard(SCOPE, [heard("claude-code", moment, data).event]).text


Case = tuple[str, Any, str]  # failures or prompts; what comes; what must be told, or nothing


def settled_on(known: set[str]) -> list[Case]:
    """What the rules were settled on."""
    cases: list[Case] = []
    for lesson in (each for each in LESSONS if each.told in known):
        cases += [("failures", run, lesson.told) for run in (lesson.failed, *lesson.again)]
        cases += [("prompts", prompt, lesson.told) for prompt in (*lesson.goals, *lesson.asked)]
    cases += [("failures", run, "") for run in OTHER_FAILURES]
    return cases + [("prompts", prompt, "") for prompt in OTHER_PROMPTS]


def later() -> list[Case]:
    """What was written after that, and measured once."""
    cases: list[Case] = [("failures", run, told) for run, told in LATER_RELEVANT_FAILURES]
    cases += [("prompts", prompt, told) for prompt, told in LATER_RELEVANT_PROMPTS]
    cases += [("failures", run, "") for run in LATER_OTHER_FAILURES]
    return cases + [("prompts", prompt, "") for prompt in LATER_OTHER_PROMPTS]


def measure(seed: int = 1) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory(prefix="metamem-bench-") as folder,
        closing(Database(Path(folder) / FILE, also=[FAILURES])) as database,
    ):
        known = learned(database)
        adviser = Advising(database, NEVER)
        sets = {
            "settled on": _measured(adviser, settled_on(known), seed, "a"),
            "later": _measured(adviser, later(), seed, "b"),
        }
    return {"lessons": {"learned": len(known), "taught": len(LESSONS)}, "sets": sets}


def _measured(adviser: Advising, cases: list[Case], seed: int, prefix: str) -> dict[str, Any]:
    random.Random(seed).shuffle(cases)
    names = ("relevant", "right", "wrong lesson", "missed", "others", "told")
    counts: dict[str, dict[str, float]] = {
        kind: dict.fromkeys(names, 0) for kind in ("failures", "prompts")
    }
    wrong: list[str] = []
    for number, (kind, case, wanted) in enumerate(cases):
        ask = failed if kind == "failures" else prompted
        told, count = ask(adviser, f"{prefix}-{number}", case), counts[kind]
        if not wanted:
            count["others"] += 1
            count["told"] += bool(told)
            wrong += [f"{kind}: {case!r} was told: {told}"] if told else []
            continue
        count["relevant"] += 1
        right = wanted in told and told.count("\n- ") == 1
        outcome = "missed" if not told else "right" if right else "wrong lesson"
        count[outcome] += 1
        wrong += [f"{kind}: {case!r}: {outcome} {told}"] if outcome != "right" else []
    for count in counts.values():
        said = count["right"] + count["wrong lesson"] + count["told"]
        count["precision"] = count["right"] / said if said else 0.0
        count["recall"] = count["right"] / count["relevant"]
    return {"counts": counts, "wrong": wrong}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    found = measure()
    if given.json:
        print(json.dumps(found))
        return
    lessons = found["lessons"]
    print(f"lessons: {lessons['learned']} of {lessons['taught']} were learned from the sessions")
    for name, part in found["sets"].items():
        print(
            f"the set that {'the rules were settled on' if name == 'settled on' else 'came later'}:"
        )
        for kind, count in part["counts"].items():
            print(
                f"  {kind}: {count['right']:.0f} of {count['relevant']:.0f} relevant ones were told what"
                f" helps ({count['missed']:.0f} nothing, {count['wrong lesson']:.0f} something else);"
                f" {count['told']:.0f} of {count['others']:.0f} others were told anything; precision"
                f" {count['precision']:.3f}, recall {count['recall']:.3f}"
            )
        for line in part["wrong"]:
            print(f"    {line}")


if __name__ == "__main__":
    main()
