"""Where the program writes to, made fit for it: streams that are closed, and narrow encodings."""

import codecs
import os
import sys
from pathlib import Path

_NEAREST = {  # what our own sentences and tables are made of, and ASCII has not
    "…": "...",
    "→": "->",
    "–": "-",
    "—": "-",
    "−": "-",
    "·": "-",
    "“": '"',
    "”": '"',
    "’": "'",
    "±": "+-",
    "✓": "+",
    "█": "#",
    "├": "|",
    "└": "`",
    "│": "|",
    "─": "-",
    "━": "-",
    "╸": "-",
    "╺": "-",
}


def prepare() -> None:
    """Every stream is there, and takes every letter: a terminal of another encoding gets the nearest.

    What is made for programs (JSON, code) is not written through these: it is UTF-8 everywhere.
    """
    codecs.register_error("metamem.nearest", _nearest)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # whoever started us closed it: nobody wants to hear
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="metamem.nearest")


def abandon_output() -> None:
    """What is still to be written goes nowhere: the interpreter would try again as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_NEAREST.get(letter, "?") for letter in letters), error.end
