"""A question to whoever sits there, before something is done."""

import typer


class Declined(Exception):
    """Somebody was asked, and said no."""


def go_on(question: str) -> None:
    """Return where the answer is yes. Ctrl-C, or nobody there to answer, is typer's `Abort`."""
    if not typer.confirm(question, err=True):
        raise Declined
