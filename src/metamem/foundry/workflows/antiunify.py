"""The least general template of several occurrences, with the same hole wherever the same values differ.

`touch a; git add a; git commit -m "add a"` and the same with b have one parameter. Filling a template
with an occurrence's values gives that occurrence back, to the letter.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from metamem.foundry.words import Hole, Parameter, ParameterKind, Pieces, Template
from metamem.foundry.workflows.alignment import Frame, Gap, Glue, Text, frame
from metamem.foundry.workflows.naming import Spot, parameter_names
from metamem.foundry.workflows.shape import COMMAND_KEYS, suffix

# What was done for one step in one occurrence: nothing, one use's arguments, or those of a loop.
Done = Sequence[Mapping[str, Any]]
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w.])")
_EXAMPLES = 3
_ID = 40  # characters of an id that are always the same, at most


class _Absent:
    """No value: the occurrence left the step out."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Generalised:
    """Templates of the steps, and for every occurrence the values that give it back."""

    steps: tuple[Template, ...]
    each: tuple[str, ...]  # for every step the list that it loops over, or nothing
    parameters: tuple[Parameter, ...]
    values: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A gap, known by its values over all occurrences; in a loop each value is a list."""

    key: tuple[str, ...]
    values: tuple[Any, ...] = field(compare=False)
    each: bool


def generalise(rows: Sequence[Sequence[Done]]) -> Generalised | None:
    """The template of `rows[occurrence][step]`. None where a loop would vary in more than one value."""
    frames = [_step_frame([row[step] for row in rows]) for step in range(len(rows[0]))]
    frames = _whole(_widened(_merged(_unified(frames))))
    names = parameter_names(_spots(frames))
    each = []
    for at, found in enumerate(frames):
        lists = {slot for slot in _slots(found) if slot.each}
        if len(lists) != any(len(row[at]) > 1 for row in rows):
            return None
        each.append("".join(names[slot] for slot in lists))
    return Generalised(
        tuple(_template(found, names) for found in frames),
        tuple(each),
        tuple(Parameter(name, _kind(slot), None, _examples(slot)) for slot, name in names.items()),
        tuple(
            {
                name: slot.values[at]
                for slot, name in names.items()
                if slot.values[at] is not _ABSENT
            }
            for at in range(len(rows))
        ),
    )


def _step_frame(done: Sequence[Done]) -> Frame:
    owners = [at for at, one in enumerate(done) for _ in one]
    found = frame([dict(arguments) for one in done for arguments in one])
    loops = any(len(one) > 1 for one in done)

    def slot(gap: Gap, _: bool) -> _Slot:
        lists: list[list[Any]] = [[] for _ in done]
        for at, value in zip(owners, gap.values, strict=True):
            lists[at].append(value)
        if loops and any(len(set(map(_key, values))) > 1 for values in lists):
            return _slot([values or _ABSENT for values in lists], each=True)
        return _slot([values[0] if values else _ABSENT for values in lists], each=False)

    return _mapped(found, slot)


def _slot(values: Sequence[Any], *, each: bool) -> _Slot:
    return _Slot((str(each), *map(_key, values)), tuple(values), each)


def _key(value: Any) -> str:
    return "" if value is _ABSENT else json.dumps(value, sort_keys=True)


def _unified(frames: Sequence[Frame]) -> list[Frame]:
    """One slot where two agree: one of them in a step that some left out, or a number in a text."""
    everywhere = list(dict.fromkeys(slot for found in frames for slot in _slots(found)))
    whole = [slot for slot in everywhere if "" not in slot.key]
    numbers = {
        (str(slot.each), *(json.dumps(str(v)) for v in slot.values)): slot
        for slot in whole
        if all(isinstance(v, int) and not isinstance(v, bool) for v in slot.values)
    }

    def one(slot: _Slot, alone: bool) -> _Slot:
        if not alone and slot.key in numbers:
            return numbers[slot.key]
        if "" in slot.key:
            pairs = ((other, zip(slot.key, other.key, strict=True)) for other in whole)
            return next((o for o, pair in pairs if all(a in ("", b) for a, b in pair)), slot)
        return slot

    return [_mapped(found, one) for found in frames]


def _merged(frames: Sequence[Frame]) -> list[Frame]:
    """Neighbouring slots that always stand together, with the same signs between, become one."""
    found = list(frames)
    while True:
        total = Counter(slot for one in found for slot in _slots(one))
        together = Counter(pair for one in found for text in _texts(one) for pair in _pairs(text))
        best = next(
            (
                (a, between, b)
                for (a, between, b), times in together.items()
                if a != b
                and a.each == b.each
                and times == total[a] == total[b]
                and all((x == "") == (y == "") for x, y in zip(a.key, b.key, strict=True))
            ),
            None,
        )
        if best is None:
            return found
        replaced = partial(_replaced, first=best[0], between=best[1], second=best[2])
        found = [_mapped_texts(one, replaced) for one in found]


def _widened(frames: Sequence[Frame]) -> list[Frame]:
    """A slot that is a path but for its suffix takes that in, where it stands nowhere without it."""
    found = list(frames)
    total = Counter(slot for one in found for slot in _slots(one))
    ended = Counter(pair for one in found for text in _texts(one) for pair in _suffixed(text))
    for (slot, end), times in ended.items():
        if times == total[slot]:
            whole = _slot([_ended(value, end) for value in slot.values], each=slot.each)
            change = partial(_with_suffix, slot=slot, end=end, whole=whole)
            found = [_mapped_texts(one, change) for one in found]
    return found


def _whole(frames: Sequence[Frame]) -> list[Frame]:
    """An id or a date of which a part differs is one value, where that part stands nowhere else but in
    the same text. Words of a shell's line are held together by the shell."""
    homes: dict[_Slot, set[Text | None]] = defaultdict(set)
    for one in frames:
        for leaf, _ in _leaves(one, ""):
            text = leaf if isinstance(leaf, Text) else None
            for slot in _slots(leaf):
                homes[slot].add(text)

    def change(text: Text) -> Frame:
        slots = [part for part in text.parts if isinstance(part, _Slot)]
        rest = "".join(_glued(part) for part in text.parts if not isinstance(part, _Slot))
        alone = all(homes[slot] == {text} for slot in slots)
        one_way = len({slot.each for slot in slots}) == 1
        if not alone or not one_way or len(rest) > _ID or re.search(r"\s", rest):
            return text
        each = slots[0].each
        filled = [_joined_values(text, at, each) for at in range(len(slots[0].values))]
        return _slot(filled, each=each)

    return [_mapped_leaves(found, change) for found in frames]


def _joined_values(text: Text, at: int, each: bool) -> Any:
    """What a text is in one occurrence."""
    values = [part.values[at] for part in text.parts if isinstance(part, _Slot)]
    if any(value is _ABSENT for value in values):
        return _ABSENT

    def one(number: int) -> str:
        return "".join(
            str(part.values[at][number] if each else part.values[at])
            if isinstance(part, _Slot)
            else _glued(part)
            for part in text.parts
        )

    return [one(number) for number in range(len(values[0]))] if each else one(0)


def _glued(part: Any) -> str:
    return part.text if isinstance(part, Glue) else str(part)


def _mapped_leaves(found: Frame, change: Callable[[Text], Frame]) -> Frame:
    """A frame with the texts of its structured arguments changed, those of a shell left as they are."""
    if isinstance(found, dict):
        return {
            name: value if name in COMMAND_KEYS else _mapped_leaves(value, change)
            for name, value in found.items()
        }
    if isinstance(found, list):
        return [_mapped_leaves(value, change) for value in found]
    return change(found) if isinstance(found, Text) else found


def _suffixed(text: Text) -> Iterator[tuple[_Slot, str]]:
    parts = ("", *text.parts, Glue(""))
    for at, part in enumerate(parts[:-2]):
        before, after = parts[at - 1], parts[at + 1]
        if isinstance(part, _Slot) and isinstance(after, str):
            match = _SUFFIX.match(after)
            begins = isinstance(before, Glue) or (isinstance(before, str) and before[-1:] in "\"' ")
            if match and begins and (match.end() < len(after) or isinstance(parts[at + 2], Glue)):
                yield part, match[0]


def _with_suffix(text: Text, slot: _Slot, end: str, whole: _Slot) -> Frame:
    parts: list[Any] = []
    for part in text.parts:
        if parts and parts[-1] == whole and isinstance(part, str):
            parts.append(part.removeprefix(end))
        else:
            parts.append(whole if part == slot else part)
    parts = [part for part in parts if part != ""]
    return parts[0] if parts == [whole] else Text(tuple(parts))


def _ended(value: Any, end: str) -> Any:
    if value is _ABSENT:
        return _ABSENT
    return [f"{item}{end}" for item in value] if isinstance(value, list) else f"{value}{end}"


def _pairs(text: Text) -> Iterator[tuple[_Slot, str, _Slot]]:
    parts = text.parts
    for at, part in enumerate(parts):
        after = parts[at + 1 : at + 3]
        if not isinstance(part, _Slot) or not after:
            continue
        if isinstance(after[0], _Slot):
            yield part, "", after[0]
        elif (
            len(after) == 2
            and isinstance(after[0], str)
            and isinstance(after[1], _Slot)
            and not any(c.isalnum() for c in after[0])
        ):
            yield part, after[0], after[1]


def _replaced(text: Text, first: _Slot, between: str, second: _Slot) -> Frame:
    values = [_spliced(a, between, b) for a, b in zip(first.values, second.values, strict=True)]
    both = _slot(values, each=first.each)
    parts: list[Any] = []
    at = 0
    wide = 3 if between else 2
    wanted = (first, between, second) if between else (first, second)
    while at < len(text.parts):
        if text.parts[at : at + wide] == wanted:
            parts.append(both)
            at += wide
        else:
            parts.append(text.parts[at])
            at += 1
    return parts[0] if parts == [both] else Text(tuple(parts))


def _spliced(a: Any, between: str, b: Any) -> Any:
    if a is _ABSENT:
        return _ABSENT
    if isinstance(a, list):
        return [f"{x}{between}{y}" for x, y in zip(a, b, strict=True)]
    return f"{a}{between}{b}"


def _mapped(found: Frame, change: Callable[[Any, bool], _Slot]) -> Frame:
    """A frame with its gaps changed; the second argument says whether a gap is the whole leaf."""
    if isinstance(found, Gap | _Slot):
        return change(found, True)
    if isinstance(found, Text):
        parts = (p if isinstance(p, str | Glue) else change(p, False) for p in found.parts)
        return Text(tuple(parts))
    if isinstance(found, dict):
        return {name: _mapped(value, change) for name, value in found.items()}
    if isinstance(found, list):
        return [_mapped(value, change) for value in found]
    return found


def _mapped_texts(found: Frame, change: Callable[[Text], Frame]) -> Frame:
    if isinstance(found, Text):
        return change(found)
    if isinstance(found, dict):
        return {name: _mapped_texts(value, change) for name, value in found.items()}
    if isinstance(found, list):
        return [_mapped_texts(value, change) for value in found]
    return found


def _texts(found: Frame) -> Iterator[Text]:
    for leaf, _ in _leaves(found, ""):
        if isinstance(leaf, Text):
            yield leaf


def _slots(found: Frame) -> Iterator[_Slot]:
    for leaf, _ in _leaves(found, ""):
        if isinstance(leaf, _Slot):
            yield leaf
        elif isinstance(leaf, Text):
            yield from (part for part in leaf.parts if isinstance(part, _Slot))


def _leaves(found: Frame, name: str) -> Iterator[tuple[Any, str]]:
    if isinstance(found, dict):
        for key, value in found.items():
            yield from _leaves(value, key)
    elif isinstance(found, list):
        for value in found:
            yield from _leaves(value, name)
    else:
        yield found, name


def _template(found: Frame, names: Mapping[_Slot, str]) -> Template:
    if isinstance(found, _Slot):
        return Hole(names[found])
    if isinstance(found, Text):
        parts: list[str | Hole] = []
        for part in found.parts:
            text = part.text if isinstance(part, Glue) else part
            if not isinstance(text, str):
                parts.append(Hole(names[text]))
            elif parts and isinstance(parts[-1], str):
                parts[-1] += text
            else:
                parts.append(text)
        return Pieces(tuple(parts))
    if isinstance(found, dict):
        return {name: _template(value, names) for name, value in found.items()}
    if isinstance(found, list):
        return [_template(value, names) for value in found]
    return found


def _spots(frames: Sequence[Frame]) -> Iterator[Spot]:
    """Where every slot stands, step by step."""
    for found in frames:
        for leaf, key in _leaves(found, ""):
            if isinstance(leaf, _Slot):
                yield _spot(leaf, key, "", key)
            if not isinstance(leaf, Text):
                continue
            before = ""
            for part in leaf.parts:
                if isinstance(part, _Slot):
                    yield _spot(part, "", before, key)
                    before += "\0"
                else:
                    before += part.text if isinstance(part, Glue) else str(part)


def _spot(slot: _Slot, argument: str, before: str, key: str) -> Spot:
    values = tuple(_flat(slot))
    kind = _kind(replace(slot, values=values, each=False)) if slot.each else _kind(slot)
    return Spot(slot, argument, before, values, kind, slot.each, key)


def _flat(slot: _Slot) -> Iterator[Any]:
    for value in slot.values:
        if value is not _ABSENT:
            yield from value if slot.each else (value,)


def _kind(slot: _Slot) -> ParameterKind:
    present = [value for value in slot.values if value is not _ABSENT]
    if slot.each or all(isinstance(v, list | tuple) for v in present):
        return "list"
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in present):
        return "number"
    if not all(isinstance(v, str) for v in present):
        return "text"
    if all(_NUMBER.fullmatch(v) for v in present):
        return "number"
    paths = (suffix(v) or ("/" in v and not re.search(r"\s", v)) for v in present)
    return "path" if all(paths) else "text"


def _examples(slot: _Slot) -> tuple[Any, ...]:
    seen = {_key(v): v for v in slot.values if v is not _ABSENT}
    return tuple(list(seen.values())[:_EXAMPLES])
