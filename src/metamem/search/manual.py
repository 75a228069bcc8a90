"""The manual for whoever writes designs, be it a person, a model or a coding agent."""

from importlib.resources import files


def manual() -> str:
    """The contract of a design, its toolbox, limits and rules, with an example: markdown."""
    return files("metamem.search").joinpath("manual.md").read_text(encoding="utf-8")
