"""What every tool that is written by template can do: run a command, change a file, stop.

This text is put in front of each tool's own steps, so it needs the standard library alone. No value is
ever pasted into a command: the shell finds values in its environment (`p_NAME`).
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

FAILED, BAD_VALUES = 1, 2  # exit codes
LONGEST = 100_000  # bytes of a value: a variable of the environment holds little more
_RULES = {
    "no zeros": r"[^\0]*",
    "number": r"[+-]?\d+(\.\d+)?",
    "no option": r"(?!-).*",
    "no option of echo": r"(?!-[neE]*$).*",
    "no way out": r"(?![/~])(?!(.*/)?(\.\.|\.[gG][iI][tT])(/|$)).*",
    "one line": r"[^\n\\]*",
    "plain name": r"[\w.+@,:-]*",
}


class Stop(Exception):
    """A step that did not work, or a value that is not taken."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def inside(path: str) -> Path:
    """A path in the current folder; links are followed, and what leads out of it is refused."""
    top = Path.cwd().resolve()
    found = (top / path).resolve()
    if not found.is_relative_to(top) or ".git" in found.relative_to(top).parts:
        raise Stop(f"{path!r} is not a file of this tree", BAD_VALUES)
    return found


def stays(word: str) -> bool:
    """Whether a word of a command, with its values in it, leads nowhere out of the tree."""
    pieces = {word, *re.split("[=:,]", word)}
    pieces |= {piece[2:] for piece in pieces if piece.startswith("-")}  # -o/tmp/x
    return all(holds("no way out", piece) for piece in pieces)


def text(*parts: Any) -> str:
    return "".join(str(part) for part in parts)


def shell(
    command: str, values: Mapping[str, Any], folder: str = ".", paths: Sequence[str] = ()
) -> str:
    """Run a command; its text is the same whatever the values are. Returns what it printed.

    `paths` are words of it with values in them.
    """
    for path in paths:
        if not stays(path):
            raise Stop(f"{path[:80]!r} leads out of the tree", BAD_VALUES)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=inside(folder),
        env={**os.environ, **{f"p_{name}": str(value) for name, value in values.items()}},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = ran.stdout.decode(errors="replace")
    if ran.returncode:
        raise Stop(f"exit code {ran.returncode}\n{output[-2000:]}")
    return output


def read(path: str) -> str:
    try:
        return inside(path).read_bytes().decode(errors="surrogateescape")
    except OSError as error:
        raise Stop(f"{path} cannot be read: {error.strerror}") from error


def write(path: str, content: str) -> str:
    place = inside(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode(errors="surrogateescape"))
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}") from error
    return f"wrote {path}"


def edit(path: str, old: str, new: str, everywhere: bool = False) -> str:
    """Put a text in the place of another, which must be there, and once only unless said."""
    before = read(path)
    count = before.count(old) if old else 0
    if count == 0 or (count > 1 and not everywhere):
        raise Stop(f"{path}: the text to be replaced is there {count} times")
    write(path, before.replace(old, new))
    return f"changed {path}"


def delete(path: str) -> str:
    """Delete a file that git can bring back."""
    inside(path)
    name = {"file": path}
    shell('git ls-files --error-unmatch -- "$p_file" && git diff --quiet HEAD -- "$p_file"', name)
    try:
        inside(path).unlink()
    except OSError as error:
        raise Stop(f"{path} cannot be deleted: {error.strerror}") from error
    return f"deleted {path}"


def located(output: str, before: str, after: str) -> str:
    """What stands in an output between two texts; up to its end or from its beginning where empty."""
    begin = output.find(before)
    start = begin + len(before)
    end = output.find(after, start) if after else len(output.rstrip("\n"))
    if begin < 0 or end < start:
        raise Stop("an earlier step did not print what this one needs")
    return output[start:end]


def flowed(name: str, kind: str, rules: Sequence[str], found: str) -> Any:
    """A value that was printed by an earlier step. It is data: checked as if a caller gave it."""
    value: Any = found.split() if kind == "list" else found
    try:
        return checked(name, value, kind, ("one line", *rules))
    except Stop as stop:
        raise Stop(f"what an earlier step printed cannot be used: {stop}") from stop


def checked(name: str, value: Any, kind: str, rules: Sequence[str] = ()) -> Any:
    """A value as the steps take it; some places take less than others."""
    if kind == "list":
        if not isinstance(value, list | tuple):
            raise Stop(f"{name} must be a list", BAD_VALUES)
        return [checked(name, item, "text", rules) for item in value]
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise Stop(f"{name} must be a {kind}", BAD_VALUES)
    said = str(value)
    try:
        size = len(said.encode())
    except UnicodeEncodeError:
        raise Stop(f"{name} is not taken: it is no text that can be written", BAD_VALUES) from None
    if size > LONGEST:
        raise Stop(f"{name} is not taken: it has more than {LONGEST} bytes", BAD_VALUES)
    for rule in ("no zeros", *(["number"] if kind == "number" else []), *rules):
        if not holds(rule, said, kind):
            raise Stop(f"{name}={said[:80]!r} is not taken: {rule}", BAD_VALUES)
    if kind == "path":
        inside(said)
    return said


def holds(rule: str, said: str, kind: str = "text") -> bool:
    if rule == "no option" and kind == "number":
        return True
    if rule == "no way out" and kind == "path":
        return True  # it is looked at by itself
    if rule.startswith("inside of "):  # one part of sed's s command: it cannot end the part
        between = re.escape(rule[-1])
        return re.fullmatch(rf"(?:[^{between}\\\n]|\\[^\n])*", said) is not None
    return re.fullmatch(_RULES[rule], said, re.DOTALL) is not None


done: list[
    str
] = []  # steps; told one by one only where one stops, since every word is read by a model


def step(number: int, what: str, does: Callable[[], str]) -> str:
    """Do one step; tells which it was where it stops."""
    try:
        output = does()
    except Stop as stop:
        raise Stop(f"step {number} ({what}): {stop}", stop.code) from stop
    done.append(f"step {number}: {what}: done")
    return output


def run(
    steps: Callable[[dict[str, Any]], None],
    parameters: Mapping[str, str],
    required: Sequence[str],
    rules: Mapping[str, Sequence[str]],
    paths: Sequence[Sequence[Any]],
    about: str,
) -> int:
    """Read the values, do the steps, and say what was done.

    `paths` are words in which values stand, as lists of texts and of names in tuples.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", help="all values as one JSON object; - reads it from stdin")
    for name, kind in parameters.items():
        many: dict[str, Any] = {"nargs": "*"} if kind == "list" else {}
        if kind == "flag":
            many = {"action": "store_true", "default": None}
        parser.add_argument("--" + name.replace("_", "-"), dest=f"p_{name}", **many)
    given = vars(parser.parse_args())
    values = {n: given[f"p_{n}"] for n in parameters if given[f"p_{n}"] is not None}
    try:
        if given["json"] is not None:
            values.update(_json(sys.stdin.read() if given["json"] == "-" else given["json"]))
        if unknown := sorted(set(values) - set(parameters)):
            raise Stop(f"no such parameter: {', '.join(unknown)}", BAD_VALUES)
        if missing := [name for name in required if name not in values]:
            raise Stop(f"missing: {', '.join(missing)}", BAD_VALUES)
        for name in values:
            if parameters[name] != "flag":
                values[name] = checked(name, values[name], parameters[name], rules.get(name, ()))
            elif not isinstance(values[name], bool):
                raise Stop(f"{name} must be true or false", BAD_VALUES)
        for parts in paths:
            check_words(parts, values)
        steps(values)
    except Stop as stop:
        left = "what these steps did is in the tree: git status shows it, nothing was taken back"
        print(*done, f"stopped: {stop}", *([left] if done else []), sep="\n", file=sys.stderr)
        return stop.code
    print(f"{len(done)} steps done")
    return 0


def check_words(parts: Sequence[Any], values: Mapping[str, Any]) -> None:
    """Refuse values that lead out of the tree, before anything is done. What flows is looked at later."""
    names = {part[0] for part in parts if isinstance(part, tuple)}
    if not names <= values.keys():
        return
    several = [name for name in names if isinstance(values[name], list)]
    rounds = [{name: item} for name in several[:1] for item in values[name]] or [{}]
    for one in rounds:
        known = {**values, **one}
        word = text(*(known[part[0]] if isinstance(part, tuple) else part for part in parts))
        if not stays(word):
            raise Stop(f"{word[:80]!r} leads out of the tree", BAD_VALUES)


def _json(said: str) -> dict[str, Any]:
    try:
        values = json.loads(said)
    except ValueError as error:
        raise Stop(f"the values are no JSON: {error}", BAD_VALUES) from error
    if not isinstance(values, dict):
        raise Stop("the values must be one JSON object", BAD_VALUES)
    return {name: value for name, value in values.items() if value is not None}
