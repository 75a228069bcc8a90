"""What a command runs that is there to run another: `uv run pytest`, `python -m pytest`, `npx jest`.

Only programs of which it is known that they run what they are given. That a command speaks of a program says
nothing: `whereis pytest` and `git add pytest` do not run it.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

# By what words they run others; empty where they need none for that.
_RUNNERS: dict[str, tuple[str, ...]] = {
    "uv": ("run", "tool run"), "poetry": ("run",), "pdm": ("run",), "pipenv": ("run",), "hatch": ("run",),
    "rye": ("run",), "pixi": ("run",), "conda": ("run",), "mamba": ("run",), "micromamba": ("run",), "pipx": ("run",),
    "npm": ("exec", "x"), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"), "bun": ("x",), "bundle": ("exec",),
    "mise": ("exec", "x"), "coverage": ("run -m", "run"), "uvx": ("",), "npx": ("",), "bunx": ("",), "xvfb-run": ("",),
    "docker": ("run", "exec", "compose run", "compose exec"), "podman": ("run", "exec", "compose run", "compose exec"),
    "docker-compose": ("run", "exec"),
}  # fmt: skip
# They run what a project calls so.
_CALLERS: dict[str, tuple[str, ...]] = {
    "npm": ("run", "run-script"), "pnpm": ("run", ""), "yarn": ("run", ""), "bun": ("run",), "tox": ("-e", "run -e"),
    "nox": ("-s",), "make": ("",), "just": ("",), "task": ("",), "rake": ("",),
}  # fmt: skip
_INTERPRETERS = re.compile(r"python[\d.]*|pypy[\d.]*|py|node|ruby|perl|bash|sh|zsh|php|deno")
_MODULES = re.compile(r"(?:python|pypy)[\d.]*|py")
# What they run stands behind the name of a box.
_IN_BOXES = frozenset(["docker", "podman", "docker-compose"])
# Options whose value is a word of its own.
_VALUED = re.compile(
    r"--(?:extra|(?:only-)?group|with(?:-requirements|-editable)?|python|package|directory|project|env-file|name|from|prefix"
    r"|filter|index)|-[pnC]"
)
_VALUED_OF_BOXES = re.compile(
    r"--(?:env|env-file|volume|workdir|user|publish|network|name|entrypoint|platform|file|profile|mount|memory|cpus)|-[evwupfm]"
)


def run_by(words: Sequence[str]) -> Sequence[str]:
    """The words of what a command runs for others, or its own."""
    while inner := _inner(words):
        words = inner
    return words


def called_by(words: Sequence[str]) -> Sequence[str]:
    """The words by which a command calls something of its project; none where it does not."""
    program, rest = PurePosixPath(words[0]).name, words[1:]
    return _behind_one(rest, _CALLERS.get(program, ()), _VALUED)


def _inner(words: Sequence[str]) -> Sequence[str]:
    program, rest = PurePosixPath(words[0]).name, words[1:]
    if _INTERPRETERS.fullmatch(program):
        if _MODULES.fullmatch(program) and rest[:1] == ["-m"]:
            return rest[1:]
        return rest if rest and not rest[0].startswith("-") else []
    boxed = program in _IN_BOXES
    found = _behind_one(rest, _RUNNERS.get(program, ()), _VALUED_OF_BOXES if boxed else _VALUED)
    return _behind(found[1:], (), _VALUED_OF_BOXES) if boxed else found


def _behind_one(
    words: Sequence[str], ways: Sequence[str], valued: re.Pattern[str]
) -> Sequence[str]:
    return next((found for way in ways if (found := _behind(words, way.split(), valued))), [])


def _behind(words: Sequence[str], way: Sequence[str], valued: re.Pattern[str]) -> Sequence[str]:
    """What stands behind these words and the options among them; nothing where they are others."""
    wanted = list(way)
    rest = list(words)
    while rest:
        word = rest[0]
        if wanted and word == wanted[0]:
            rest, wanted = rest[1:], wanted[1:]
        elif word == "--":
            rest = rest[1:]
        elif word.startswith("-"):
            rest = rest[2 if valued.fullmatch(word) else 1 :]
        elif wanted:
            return []
        else:
            return rest
    return []
