"""The words of a command by what they are: options that are known, texts, and names of files and things.

A program takes the options that are named for it and no others: neither their abbreviations nor any with a
value in their name. So whatever a program may once learn to do is refused until somebody has looked at it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from metamem.foundry.tools.operations import COMPUTED, LOOSE, NotATool, is_hole

# `word` is a file or another name; `operand` is one that stands alone, so it could be read as an option.
Role = Literal["text", "word", "operand", "text operand", "number"]


@dataclass(frozen=True, slots=True)
class Takes:
    """What a program takes. `long` options end with `=` where a value stands behind that sign, and with
    a blank where it is the next word."""

    flags: str = ""  # letters, each an option without a value
    texts: str = ""  # letters with a value that is a text or a number
    paths: str = ""  # letters with a value that is a path or another name
    suffixed: str = ""  # letters with a short ending behind them, in the same word
    long: frozenset[str] = frozenset()
    long_paths: frozenset[str] = frozenset()  # likewise, with paths or names
    digits: bool = False  # -5
    operands: Literal["words", "texts", "text first"] = "words"
    pattern: frozenset[str] = frozenset()  # options that give what is the first operand otherwise


@dataclass(slots=True)
class Parsed:
    pieces: list[tuple[str, Role]] = field(default_factory=list)
    options: set[str] = field(default_factory=set)

    def operands(self) -> list[str]:
        return [piece for piece, role in self.pieces if role.endswith("operand")]


def parsed(program: str, words: Sequence[str], takes: Takes) -> Parsed:
    """Which word is what; `NotATool` where an option is not known."""
    found = Parsed()
    rest = list(words)
    apart = False
    operands: list[
        tuple[str, bool]
    ] = []  # and whether it stands behind --, where nothing is an option
    while rest:
        word = rest.pop(0)
        if apart or not word.startswith("-") or word == "-":
            operands.append((word, apart))
        elif word == "--":
            apart = True
        elif word.startswith("--"):
            _long(program, word, rest, takes, found)
        else:
            _short(program, word, rest, takes, found)
    _operands(operands, takes, found)
    return found


def _long(program: str, word: str, rest: list[str], takes: Takes, found: Parsed) -> None:
    name, sign, value = word.partition("=")
    role: Role
    if f"{name}{sign}" in takes.long | takes.long_paths:
        role = "word" if f"{name}{sign}" in takes.long_paths else "text"
        found.options.add(name)
        if sign:
            found.pieces.append((value, role))
    elif not sign and f"{name} " in takes.long | takes.long_paths:
        found.options.add(name)
        role = "word" if f"{name} " in takes.long_paths else "text"
        found.pieces.append((_next(program, name, rest), role))
    else:
        raise NotATool(f"{program} with {told(word)}")


def _short(program: str, word: str, rest: list[str], takes: Takes, found: Parsed) -> None:
    letters = word[1:]
    if takes.digits and letters.isascii() and letters.isdigit():
        return
    if takes.digits and len(letters) == 1 and is_hole(letters):
        found.pieces.append((letters, "number"))
        return
    while letters:
        letter, letters = letters[0], letters[1:]
        found.options.add(f"-{letter}")
        if letter in takes.flags:
            continue
        if letter in takes.suffixed:
            if not re.fullmatch(r"[A-Za-z0-9.~]*", letters):
                raise NotATool(f"{program} with {told(word)}")
            return
        if letter not in takes.texts + takes.paths:
            raise NotATool(f"{program} with {told(word)}")
        value = letters or _next(program, word, rest)
        found.pieces.append((value, "word" if letter in takes.paths else "text"))
        return


def _next(program: str, option: str, rest: list[str]) -> str:
    if not rest:
        raise NotATool(f"{program} with {option} and nothing behind it")
    return rest.pop(0)


def _operands(operands: list[tuple[str, bool]], takes: Takes, found: Parsed) -> None:
    given = takes.pattern & found.options
    for at, (word, apart) in enumerate(operands):
        text = takes.operands == "texts" or (
            takes.operands == "text first" and not at and not given
        )
        role: Role = "text operand" if text else "operand"
        if apart:
            role = "text" if text else "word"
        found.pieces.append((word, role))


def check_computed(program: str, found: Parsed) -> None:
    """What a shell computes is a text and nothing else: it comes from files and programs."""
    for piece, role in found.pieces:
        if LOOSE in piece and program != "echo":
            raise NotATool(
                "what a command printed, without quotes around it, is any number of words"
            )
        if COMPUTED in piece and (role in ("word", "operand", "number") or program == "sed"):
            raise NotATool("what a command printed would be the name of a file, or more")
        if piece.startswith(COMPUTED) and role == "text operand" and program != "echo":
            raise NotATool("what a command printed could be an option")


def told(word: str) -> str:
    signs = ("…" if is_hole(sign) or sign in (COMPUTED, LOOSE) else sign for sign in word)
    return "".join(signs)[:60]
