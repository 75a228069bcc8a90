"""Steps that an agent composes anew each time: a script, a file, a command that is never put alike.

What differs there is no value that somebody could give, so such a step is none of a workflow, nor is one
that merely runs what it wrote. A message that says what was done is a value as any other.
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from metamem.foundry.words import Hole, Pieces, Template, Use
from metamem.foundry.workflows import shell
from metamem.foundry.workflows.flows import holes
from metamem.foundry.workflows.shape import command_text

_LONG, _LINES = 200, 3  # characters or lines of a value from which on nobody gives it as one
_SHARE = 0.3  # of a step's text that may differ, where it is long
_MANY = 4  # values of its own that one text may have
_MESSAGES = re.compile(
    r"(?:message|summary|description|body|comment|title|reason|note|content_?text)s?\d*"
)
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|perl|bash|sh|zsh|php|deno")

Step = Sequence[Sequence[Use]]  # of each occurrence what was done for it


def composed(
    steps: Sequence[Template],
    values: Sequence[Mapping[str, Any]],
    given: Set[str],
    uses: Sequence[Step],
    made: Sequence[Set[str]],
) -> set[int]:
    """The numbers of such steps. `given` are parameters that the user says, or that an output holds;
    `made` are files that each session made by what is no step."""
    names = [list(dict.fromkeys(holes(step))) for step in steps]
    shared = {n for at, own in enumerate(names) for o, other in enumerate(names) if o != at
              for n in own if n in other}  # fmt: skip
    known = given | shared
    found = {
        at
        for at, step in enumerate(steps)
        if _is_composed(step, [n for n in names[at] if n not in known], values)
    }
    return found | _running(found, uses, made)


def _is_composed(step: Template, own: Sequence[str], values: Sequence[Mapping[str, Any]]) -> bool:
    free = [name for name in own if not _MESSAGES.fullmatch(name)]
    rows = [row for row in values if any(name in row for name in free)]
    if not rows:
        return False
    if 2 * sum(any(_is_long(row.get(name)) for name in free) for row in rows) >= len(rows):
        return True
    differing = sum(len(_text(row.get(name))) for row in rows for name in free)
    if differing > _SHARE * (differing + len(rows) * _constant(step)) and differing > _LONG * len(
        rows
    ):
        return True
    if any(_is_mixed([row[name] for row in rows if name in row]) for name in free):
        return True
    return any(_is_worded_anew(text, set(free)) for text in _texts(step))


def _is_worded_anew(text: Pieces, free: Set[str]) -> bool:
    """Whether some words of a script or file differ that nobody gave, or many of a line."""
    own = {part.name for part in text.parts if isinstance(part, Hole) and part.name in free}
    lines = sum(part.count("\n") for part in text.parts if isinstance(part, str))
    return len(own) > (0 if lines >= _LINES else _MANY)


def _is_long(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(
        isinstance(item, str) and (len(item) > _LONG or item.count("\n") >= _LINES)
        for item in items
    )


def _is_mixed(values: Sequence[Any]) -> bool:
    """Options in one place and none in another, or nothing: words that do not stand for one another."""
    texts = [value for value in values if isinstance(value, str)]
    options = [text.startswith("-") and not text[1:2].isdigit() for text in texts if text]
    return (any(options) and not all(options)) or ("" in texts and any(texts))


def spellings(name: str, values: Sequence[Mapping[str, Any]]) -> list[str]:
    """How a parameter is written, the most usual way first, where it is always the same but for signs."""
    said = [row[name] for row in values if name in row]
    if not said or not all(isinstance(value, str) for value in said):
        return []
    usual = Counter(said)
    if len(usual) < 2 or len({re.sub(r"[\W_]+", "", value).lower() for value in said}) > 1:
        return []
    return sorted(usual, key=lambda value: (-usual[value], value))


def _running(written: set[int], uses: Sequence[Step], made: Sequence[Set[str]]) -> set[int]:
    """Steps that run what a composed one wrote, or what is no step."""
    running = set()
    for at in range(len(uses[0]) if uses else 0):
        if at in written:
            continue
        runs = []
        for row, others in zip(uses, made, strict=True):
            mine = {name for w in written if w < at for use in row[w] for name in files_of(use)}
            runs += [_runs(row[at], {*mine, *others})] if row[at] else []
        if runs and 2 * sum(runs) > len(runs):
            running.add(at)
    return running


def _runs(uses: Sequence[Use], files: Set[str]) -> bool:
    for use in uses:
        for command in shell.commands(command_text(use.arguments) or ""):
            words = [word.rsplit("/", 1)[-1] for word in command.words]
            interpreted = words[:1] and _INTERPRETERS.fullmatch(words[0])
            if files & {*words[:1], *(words[1:3] if interpreted else ())}:
                return True
            # `./tool` was built of `tool.c`.
            if (
                words[:1]
                and "/" in command.words[0]
                and words[0] in {_stem(name) for name in files}
            ):
                return True
    return False


def _stem(name: str) -> str:
    return name.rsplit(".", 1)[0]


def files_of(use: Use) -> set[str]:
    """The names of files that a use writes or makes."""
    text = command_text(use.arguments)
    if text is None:
        found = [v for k, v in use.arguments.items() if "path" in str(k).lower()]
    else:
        commands = shell.commands(text)
        found = [target for c in commands for sign, target in c.redirects if ">" in sign]
        found += [b for c in commands for a, b in itertools.pairwise(c.words) if a == "-o"]
    return {str(path).rsplit("/", 1)[-1] for path in found if path}


def _constant(template: Template) -> int:
    """How many characters of a template always stand there."""
    if isinstance(template, str):
        return len(template)
    if isinstance(template, Pieces):
        return sum(len(part) for part in template.parts if isinstance(part, str))
    if isinstance(template, Mapping):
        return sum(map(_constant, template.values()))
    if isinstance(template, Sequence):
        return sum(map(_constant, template))
    return 0


def _texts(template: Template) -> list[Pieces]:
    if isinstance(template, Pieces):
        return [template]
    if isinstance(template, Mapping):
        return [text for value in template.values() for text in _texts(value)]
    if isinstance(template, Sequence) and not isinstance(template, str):
        return [text for value in template for text in _texts(value)]
    return []


def _text(value: Any) -> str:
    return "" if value is None else str(value)
