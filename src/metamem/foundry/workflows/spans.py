"""Traces made ready for mining: what an agent did in a session, without what is no step.

What failed is folded out where the work went on after it, and so are uses that only look, unless
something that they showed is used later. Uses of one shape in a row are one item: it may be a loop. A
chore may go on over several lines of the user: people answer what they are asked back.
"""

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metamem.foundry.correcting import corrects
from metamem.foundry.words import Trace, Use
from metamem.foundry.workflows.shape import Shape, essential, shape

_FED_WITHIN = 12
_READ = 20_000  # characters of a result in which values are looked for
_WORD = re.compile(r"\w[\w-]*")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Item:
    """One use, or several of one shape in a row."""

    key: str
    looks: bool
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """What one agent did in a session."""

    session: str
    items: tuple[Item, ...]
    prompts: Mapping[str, str]  # what the user said, in its order
    failed: frozenset[
        str
    ]  # lines that the session failed, or that what the user said next corrects

    def success(self, uses: Iterable[Use]) -> bool:
        return self.failed.isdisjoint(use.prompt for use in uses)


def spans(trace: Trace) -> list[Span]:
    """A trace by the agents whose uses it holds: the session's own, and each sub-agent."""
    own: dict[str, list[Use]] = {}
    for use in trace.uses:
        own.setdefault(use.agent, []).append(use)
    said = list(trace.prompts.items())
    failed = {a for (a, _), (_, text) in itertools.pairwise(said) if corrects(text)}
    if trace.outcome.success is False:
        failed = {*trace.prompts, *(use.prompt for use in trace.uses)}
    return [
        Span(trace.session, _items(uses, trace.prompts), trace.prompts, frozenset(failed))
        for uses in own.values()
    ]


def _items(uses: Sequence[Use], prompts: Mapping[str, str]) -> tuple[Item, ...]:
    shaped = _without_failed([(use, shape(use)) for use in uses])
    feeding = _feeding(shaped, prompts)
    items: list[Item] = []
    for at, (use, its) in enumerate(shaped):
        if its.looks and at not in feeding:
            continue
        last = items[-1] if items else None
        if last is None or last.key != its.key:
            items.append(Item(its.key, its.looks, (use,)))
        elif essential(last.uses[-1].arguments) == essential(use.arguments):
            items[-1] = Item(last.key, last.looks, (*last.uses[:-1], use))  # the same once more
        else:
            items[-1] = Item(last.key, last.looks, (*last.uses, use))
    return tuple(items)


def _without_failed(shaped: Sequence[tuple[Use, Shape]]) -> list[tuple[Use, Shape]]:
    """Without failures that somebody got past; those with which the work for a line ended stay."""
    ended: dict[str, int] = {use.prompt: at for at, (use, _) in enumerate(shaped) if not use.failed}
    return [
        (use, its)
        for at, (use, its) in enumerate(shaped)
        if not (use.failed and (its.looks or at < ended.get(use.prompt, -1)))
    ]


def _feeding(shaped: Sequence[tuple[Use, Shape]], prompts: Mapping[str, str]) -> set[int]:
    """Uses that only look, and show what a later use is given though nobody had said it before."""
    feeding: set[int] = set()
    known: set[str] = set()
    heard: set[str] = set()
    shown: dict[int, set[str]] = {}
    for at, (use, its) in enumerate(shaped):
        if use.prompt not in heard:
            heard.add(use.prompt)
            known |= _words(prompts.get(use.prompt, ""))
        given = _given(essential(use.arguments))
        fresh = given - known
        if fresh:
            for earlier, words in shown.items():
                if at - earlier <= _FED_WITHIN and not words.isdisjoint(fresh):
                    feeding.add(earlier)
        # The 3 of `head -3` is not the 3 of line 3: short numbers are known from the goal alone.
        known |= {word for word in given if len(word) > 2}
        if its.looks and use.result:
            shown[at] = _words(use.result[:_READ])
    return feeding


def _given(arguments: Mapping[str, object]) -> set[str]:
    """Words of the arguments that may be values: neither short nor only prose."""
    text = json.dumps(arguments, ensure_ascii=False)[:_READ]
    return {word for word in _words(text) if len(word) > 2 or word.isdigit()}


def _words(text: str) -> set[str]:
    """Words, and the numbers in them: `12i` is line 12 for some."""
    return {*_WORD.findall(text), *_NUMBER.findall(text)}
