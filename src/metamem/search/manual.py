"""The manual for whoever writes designs, be it a person, a model or a coding agent."""

from importlib.resources import files


def manual() -> str:
    """The contract of a design, its toolbox, limits and rules, with an example: markdown."""
    return _text("manual.md")


def reading() -> str:
    """How the agents that work without a model read advice: markdown."""
    return _text("reading.md")


def _text(name: str) -> str:
    return files("metamem.search").joinpath(name).read_text(encoding="utf-8")
