"""Plain language in what agents typed: it may quote what a tool said, and so it is not told to others.

An agent that copies a sentence of an output into a call (a message, a note, a search) would hand it on to every
session that is told of the call. So of an argument that holds a sentence only that there is one is shown. Code,
paths, options and a few words are no sentence.
"""

import re

from metamem.core.stopwords import STOP
from metamem.foundry.workflows.shell import tokens, unquoted

WORDS = 4  # of plain language in an argument, at most
MOSTLY = 0.6  # of an argument's words are plain language, where it is a sentence
INSTEAD = "…"
_WORD = re.compile(
    r"[\"'(\[]*(?:[^\W\d_]+(?:['’-][^\W\d_]+)*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)[\"')\].,;:!?]*"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # written without spaces
_MOST_WIDE = 8


def is_speech(text: str) -> bool:
    """Whether one argument is a sentence."""
    words = text.split()
    plain = sum(_WORD.fullmatch(word) is not None for word in words)
    return (plain > WORDS and plain >= MOSTLY * len(words)) or len(_WIDE.findall(text)) > _MOST_WIDE


def without_speech(line: str) -> str:
    """A shell's line with its sentences left out."""
    return "".join(_kept(token.kind, token.text) for token in tokens(line))


def has_speech(line: str) -> bool:
    """Whether a line holds a sentence, as one argument or spread over several."""
    if without_speech(line) != line:
        return True
    run: list[str] = []
    for word in [*line.split(), ""]:
        if _WORD.fullmatch(word):
            run.append(word.strip("\"'()[].,;:!?").lower())
            continue
        if len(run) > WORDS and sum(each in STOP for each in run) > 1:
            return True
        run = []
    return False


def _kept(kind: str, text: str) -> str:
    if kind not in ("word", "body"):
        return text
    if not is_speech(unquoted(text)):
        return text
    quote = text[-1] if text[-1] in "'\"`" else ""
    name = re.match(r"-{0,2}[\w-]+=", text)  # `--message='…'` keeps its name
    return f"{name[0] if name else ''}{quote}{INSTEAD}{quote}"
