"""From a prompt to a short question: what it is about, not all that it says.

Pasted code, logs and quotations say little of what is wanted; whole prompts as queries bring junk. A
prompt that says nothing of its own ("go on", "yes, do that") asks nothing, unless it asks for a time
("what did we do yesterday?").
"""

import re

from metamem.core.stopwords import STOP
from metamem.service.database import now_ms
from metamem.service.recall.asked_times import asked

MOST = 300  # characters of a question
LEAST_TERMS = 2
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TAGGED = re.compile(r"<([a-zA-Z][\w-]*)[^<>]*>.*?</\1>", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"\w[\w./_-]*", re.UNICODE)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"[{};]\s*$|^\s*(?:at |File \"|Traceback|\$ |>>> |> |\d{4}-\d\d-\d\d[T ])")
_TELL_ME = re.compile(
    r"\b(?:what|which|anything|everything)\b|^(?:please )?(?:show|list|tell|remind|recap|summari[sz]e)\b",
    re.IGNORECASE,
)
# Words with which people drive an agent on.
_DRIVING = """
    go on continue proceed ahead please now next try again retry do did it yes no yep sure ok okay
    thanks thank you great good nice perfect fix that this one more time run let's lets make same
    first second commit push
"""
_DRIVEN = frozenset(_DRIVING.split())


def question(prompt: str) -> str:
    """What to ask memory for a prompt; empty where there is nothing to ask."""
    text = _TAGGED.sub(" ", _FENCED.sub(" ", prompt)).strip()
    if text.startswith("/"):
        return ""  # a command of the host
    sentences = [s.strip() for s in _SENTENCE.split(text) if s.strip() and not _CODE.search(s)]
    questions = [s for s in sentences if s.endswith(("?", "？"))]
    chosen: list[str] = []
    room = MOST
    # Where it begins and what it asks; then the rest, as far as there is room.
    for sentence in dict.fromkeys([*sentences[:1], *questions, *sentences[1:]]):
        if len(sentence) > room:
            if not chosen:
                chosen.append(_cut(sentence, room))
            break
        chosen.append(sentence)
        room -= len(sentence) + 1
    found = " ".join(sorted(chosen, key=text.find))
    return found if _says_something(found) or _asks_for_a_time(found) else ""


def _asks_for_a_time(text: str) -> bool:
    """Whether nothing but what is kept of a time is asked for; "do that today" is no question."""
    dated = asked(text, now_ms())
    return dated is not None and not dated.speaker and _TELL_ME.search(text) is not None


def _says_something(text: str) -> bool:
    if len(_WIDE.findall(text)) >= 4:
        return True
    words = {word.lower() for word in _WORD.findall(text)}
    return len([w for w in words - STOP - _DRIVEN if len(w) > 1]) >= LEAST_TERMS


def _cut(text: str, most: int) -> str:
    return text[:most].rsplit(" ", 1)[0] if " " in text[:most] else text[:most]
