"""Which outputs feed which inputs: values that nobody asked for, and that an earlier step printed.

A flow counts only where one rule finds the value in all occurrences: what stands between the same two
texts, or the whole output. The items of a loop are the words of the whole output, in whatever order.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.foundry.words import Flow, Hole, Parameter, Pieces, Template, Use
from metamem.foundry.workflows.printed import printed

_AROUND = 40  # characters before and after a value that may tell where it stands
_PLACES = 12  # places of a value in an output that are looked at
_MOSTLY = 0.8
_TELLING = 3  # characters of a value that is not everywhere by chance
_PIECE = re.compile(r"\s+|\w+|[^\w\s]")

Row = Sequence[Sequence[Use]]  # one occurrence: the uses of every step


@dataclass(frozen=True, slots=True)
class Found:
    """Where a workflow's parameters come from."""

    flows: Mapping[str, Flow]
    given: frozenset[str]  # what the user says or an output shows, most of the time
    showing: frozenset[int]  # steps that show what somebody then chooses from


def find_flows(
    steps: Sequence[Template],
    parameters: Sequence[Parameter],
    values: Sequence[Mapping[str, Any]],
    rows: Sequence[Row],
    goals: Sequence[str],
) -> Found:
    """Where each parameter of a workflow comes from."""
    first = {name: at for at, step in reversed([*enumerate(steps)]) for name in holes(step)}
    flows: dict[str, Flow] = {}
    given: set[str] = set()
    showing: set[int] = set()
    for parameter in parameters:
        name = parameter.name
        having = [at for at, given in enumerate(values) if name in given]
        wanted = [values[at][name] for at in having]
        if not having or _mostly_said([goals[at] for at in having], wanted):
            given.add(name)
            continue
        # The nearest earlier step first: what it printed is the freshest.
        for source in range(first[name] - 1, -1, -1):
            flow = _flow(source, [_output(rows[at][source]) for at in having], wanted)
            if flow is not None:
                flows[name] = flow
                break
        else:
            shown = [_shown(rows[at][: first[name]], values[at][name], goals[at]) for at in having]
            often = Counter(step for one in shown for step in one.steps)
            showing |= {step for step, times in often.items() if times >= _MOSTLY * len(having)}
            if sum(one.whole for one in shown) >= _MOSTLY * len(having):
                given.add(name)
    return Found(flows, frozenset({*given, *flows}), frozenset(showing))


@dataclass(frozen=True, slots=True)
class _Shown:
    steps: frozenset[int]  # that print some of a value
    whole: bool  # nothing of it was neither printed nor said


def _shown(row: Row, value: Any, goal: str) -> _Shown:
    """Which earlier steps print what nobody said."""
    leaves = [str(leaf) for leaf in _leaves(value)]
    unsaid = [leaf for leaf in leaves if not _holds(goal, leaf)]
    texts = ["\n".join(map(printed, uses)) for uses in row]
    telling = [leaf for leaf in unsaid if len(leaf) >= _TELLING]
    steps = {at for at, text in enumerate(texts) if any(_holds(text, leaf) for leaf in telling)}
    whole = all(any(_holds(text, leaf) for text in texts) for leaf in unsaid)
    return _Shown(frozenset(steps), whole)


def located(output: str, flow: Flow) -> str | None:
    """What a flow finds in an output."""
    begin = output.find(flow.before)
    start = begin + len(flow.before)
    end = output.find(flow.after, start) if flow.after else len(output.rstrip("\n"))
    return output[start:end] if begin >= 0 and end >= start else None


def holes(template: Template) -> Iterator[str]:
    """The names of a template's holes, in their order."""
    if isinstance(template, Hole):
        yield template.name
    elif isinstance(template, Pieces):
        yield from (part.name for part in template.parts if isinstance(part, Hole))
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from holes(value)
    elif isinstance(template, Sequence) and not isinstance(template, str):
        for value in template:
            yield from holes(value)


def _mostly_said(goals: Sequence[str], values: Sequence[Any]) -> bool:
    said = (
        all(_holds(goal, str(leaf)) for leaf in _leaves(value))
        for goal, value in zip(goals, values, strict=True)
    )
    return 2 * sum(said) > len(values)


def _holds(text: str, item: str) -> bool:
    """Whether a text has an item as a word, in whatever case."""
    if not item or len(item) > len(text):
        return False
    text, item = text.lower(), item.lower()
    at = text.find(item)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(item) : at + len(item) + 1]
        if not (_is_of_word(before) or _is_of_word(after)):
            return True
        at = text.find(item, at + 1)
    return False


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _output(uses: Sequence[Use]) -> str | None:
    """What a step printed; nothing where it was left out or done several times."""
    return printed(uses[0]) if len(uses) == 1 else None


def _flow(step: int, outputs: Sequence[str | None], wanted: Sequence[Any]) -> Flow | None:
    texts = [output for output in outputs if output]
    if len(texts) < len(outputs):
        return None
    if any(isinstance(value, list) for value in wanted):
        listed = all(
            isinstance(value, list) and sorted(map(str, value)) == sorted(text.split())
            for text, value in zip(texts, wanted, strict=True)
        )
        return Flow(step) if listed else None
    if not all(isinstance(v, str | int) and not isinstance(v, bool) and str(v) for v in wanted):
        return None
    values = [str(value) for value in wanted]
    if not all(value in text for text, value in zip(texts, values, strict=True)):
        return None
    # The shortest output has the fewest places in which a value may stand by chance.
    shortest = min(range(len(texts)), key=lambda at: (len(texts[at]), texts[at], values[at]))
    for flow in _rules(step, texts[shortest], values[shortest]):
        if all(located(text, flow) == value for text, value in zip(texts, values, strict=True)):
            return flow
    return None


def _rules(step: int, text: str, value: str) -> Iterator[Flow]:
    yield Flow(step)
    for match in [*re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text)][:_PLACES]:
        left = text[max(0, match.start() - _AROUND) : match.start()].rpartition("\n")
        right = text[match.end() : match.end() + _AROUND].partition("\n")
        pieces = _PIECE.findall(left[2])
        befores = ["".join(pieces[at:]) for at in range(len(pieces))]
        befores += [left[1]] if left[1] and not left[2] else [""]
        after = _PIECE.findall(right[0]) or [right[1]]
        afters = ["".join(after[:count]) for count in range(1, min(3, len(after)) + 1)]
        # What ends an output may or may not be followed by a line break: hosts differ.
        afters = ["", *afters] if not text[match.end() :].strip("\n") else [*afters, ""]
        for before in befores:
            for tail in afters:
                if before or tail:
                    yield Flow(step, before, tail)
