"""What the desk answers, in the words of the command line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metamem.core.figures import percent
from metamem.core.ids import short

LOGS = 20  # lines shown; --json has all


def came_of(outcome: Mapping[str, Any]) -> str:
    """What came of a submission."""
    if outcome["status"] == "pending":
        return f"handed in; {outcome['reason']}"
    words = [outcome["status"]]
    if outcome["score"] is not None:
        words.append(f"score {_score(outcome)}")
    if outcome["gain"] is not None:
        words.append(f"gain over its parent {_gain(outcome)}")
    if outcome["free"]:
        words.append("at no cost")
    told = ", ".join(words)
    return f"{told}: {outcome['reason']}" if outcome["reason"] else told


def standing(found: Mapping[str, Any]) -> Iterator[str]:
    """Where a run stands."""
    of = f" of {found['designs']}" if found["designs"] else ""
    free = found["duplicates"]["free"]
    more = f", and {free} duplicate{'' if free == 1 else 's'} at no cost" if free else ""
    yield f"Designs: {found['proposed']}{of}{more}"
    quick = found["quick_cases"]
    yield f"Cases for quick scores: {quick['left']} of {quick['allowed']} left"
    for name, key in (("Best", "best"), ("Best by people", "best_human")):
        if found[key]:
            yield f"{name}: {short(found[key]['design'])}, {_score(found[key])}"
    for outcome in found["submissions"]:
        yield f"Request {outcome['number']}: {came_of(outcome)}"


def checked(found: Mapping[str, Any]) -> Iterator[str]:
    """What was found out about a draft."""
    yield "It runs, and it is new." if found["passed"] else found["error"]
    for operation, used in found["cpu"].items():
        most, mean = _seconds(used["most"]), _seconds(used["mean"])
        yield (
            f"CPU time of one {operation}: {most} at most, {mean} on average of {used['calls']}"
            f" (limit {used['limit']:g} s)"
        )
    for advice in found["advice"]:
        kind = f" ({advice['kind']})" if advice["kind"] else ""
        cut = ", cut to the limit" if advice["cut"] else ""
        yield ""
        yield f"--- Task {advice['task']}{kind}: {advice['goal']}"
        yield f"--- Advice ({advice['tokens']} tokens{cut}):" if advice["text"] else "--- No advice"
        if advice["text"]:
            yield advice["text"]
    if found["logs"]:
        yield ""
        yield f"--- tools.log, {len(found['logs'])} lines (updates, then retrievals):"
        if len(found["logs"]) > LOGS:
            yield f"({len(found['logs']) - LOGS} before these; --json has all)"
        yield from found["logs"][-LOGS:]
    if found["score"]:
        yield ""
        yield from _quick(found["score"])


def _quick(score: Mapping[str, Any]) -> Iterator[str]:
    mean, parent = score["mean"], score["parent"]
    yield f"--- Quick score: {_interval(mean['mean'], [mean['low'], mean['high']])} on {mean['tasks']} tasks"
    if parent:
        told = _interval(parent["mean"], [parent["low"], parent["high"]])
        yield f"The parent on the same tasks: {told}; gain {_gain(score)}"
    if score["failures"]:
        yield f"The design failed in {score['failures']} of them"
    yield "Transcripts, in the request's folder:"
    for task in score["tasks"]:
        beside = "" if task["parent"] is None else f" (the parent {task['parent']:.2f})"
        kind = f" ({task['kind']})" if task["kind"] else ""
        yield f"{task['transcript']}: {task['reward']:.2f}{beside}, {task['task']}{kind}"
    yield f"Cases left for quick scores: {score['quick_cases_left']}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"


def _score(told: Mapping[str, Any]) -> str:
    """With its interval and the tasks that it rests on."""
    of = f"{told['tasks']} of {told['of']} tasks"
    return f"{_interval(told['score'], told['interval'])} on {of}"


def _interval(mean: float, interval: Sequence[float]) -> str:
    low, high = interval
    return f"{percent(mean)} % ({percent(low)} to {percent(high)})"


def _gain(told: Mapping[str, Any]) -> str:
    gain = f"{100 * told['gain']:+.1f}"
    if told["gain_interval"] is None:
        return gain
    low, high = told["gain_interval"]
    return f"{gain} ({100 * low:+.1f} to {100 * high:+.1f})"
