"""The library of functions that projects are made of, and its format.

A function is text with *slots*: `{{kind: a || b}}`. Every form of a slot is sound; which one is
right in a task is drawn for that task alone, and the tests follow. So a function seen in another
task, in whatever words, says nothing about the right form in this one. Slots of the kind `=` are
style: their forms mean the same and are never a fault.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from metamem.core.errors import DataError

STYLE = "="
MAIN = "fn"  # what a function is called in the library
_SLOT = re.compile(r"\{\{([a-z ]+|=): (.*?)\}\}")


@dataclass(frozen=True, slots=True)
class Slot:
    kind: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function or class with slots, and calls that tell their forms apart."""

    name: str
    summary: str  # `%s` stands for what the project deals with
    pieces: tuple[str, ...]  # the text around the slots
    slots: tuple[Slot, ...]
    calls: tuple[str, ...]  # statements with ` ;; ` between them, the last an expression

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(slot.kind for slot in self.slots if slot.kind != STYLE)

    def text(self, chosen: Sequence[int]) -> str:
        """The source with one form for each slot. Lines that are left empty go."""
        text = self.pieces[0]
        for slot, form, piece in zip(self.slots, chosen, self.pieces[1:], strict=True):
            line = text.rpartition("\n")[2]
            indent = line[: len(line) - len(line.lstrip())]
            text += slot.forms[form].replace("\\n", f"\n{indent}") + piece
        return "\n".join(line for line in text.split("\n") if line.strip()) + "\n"


@cache
def functions() -> tuple[Function, ...]:
    """All of the library, in the order of files and lines."""
    folder = resources.files(__package__).joinpath("functions")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".txt")), key=lambda f: f.name)
    return tuple(function for file in files for function in parse(file.read_text("utf-8")))


def parse(text: str) -> list[Function]:
    """`@ name`, `: summary`, source lines, and `? call` lines; `#` before the first is a comment."""
    found = []
    for part in re.split(r"^@ ", text, flags=re.MULTILINE)[1:]:
        name, *lines = part.rstrip().split("\n")
        summary = [line[2:] for line in lines if line.startswith(": ")]
        calls = tuple(line[2:] for line in lines if line.startswith("? "))
        source = "\n".join(line for line in lines if line[:2] not in (": ", "? "))
        split = _SLOT.split(source)
        slots = tuple(
            Slot(kind, _forms(body)) for kind, body in zip(split[1::3], split[2::3], strict=True)
        )
        if len(summary) != 1 or not calls or not slots:
            raise DataError(f"the function {name} needs a summary, slots and calls")
        found.append(Function(name, summary[0], tuple(split[::3]), slots, calls))
    return found


def _forms(body: str) -> tuple[str, ...]:
    """The spaces beside the bars are not part of a form; all others are."""
    first, *others = body.split("||")
    parts = [first, *(other.removeprefix(" ") for other in others)]
    return (*(part.removesuffix(" ") for part in parts[:-1]), parts[-1])
