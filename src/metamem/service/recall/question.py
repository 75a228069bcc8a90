"""A question taken apart: what it asks for, of whom, and of what time."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from metamem.core.stopwords import STOP
from metamem.core.terms import terms, words
from metamem.service.recall.times import span

# What a question asks for, in the order in which it is tried.
_ASKS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "when",
            r"\bwhen\b|\b(what|which) (day|date|year|month|week|time)\b|\bhow long ago\b"
            r"|什么时候|何时|いつ|언제",
        ),
        ("how_long", r"\bhow long\b"),
        ("how_many", r"\bhow (many|much|often|old|far|big)\b|几|多少|いくつ|몇"),
        (
            "where",
            r"\bwhere\b|\b(what|which) (city|country|place|town|state)\b|哪里|哪儿|どこ|어디",
        ),
        ("who", r"\b(who|whom|whose)\b|谁|誰|누구"),
        ("why", r"\bwhy\b|\breason\b|为什么|なぜ|왜"),
        ("how", r"\bhow\b"),
        ("what", r"\b(what|which)\b|什么|何|무엇"),
    )
)
ASKS = (*(name for name, _ in _ASKS), "yes_no", "none")
_YES_NO = re.compile(r"^(is|are|was|were|do|does|did|has|have|had|would|will|can|could)\b", re.I)
_NAME = re.compile(r"\b[A-Z]\w+")
_FOCUS = re.compile(
    r"\b(?:what|which|how many|how much)(?: (?:kind|type|sort|name|breed|genre)s? of)?"
    r" ((?:\w+ ){0,2}?\w+?)(?= (?:is|are|was|were|do|does|did|has|have|had|would|will|can|could)\b|\?)",
    re.IGNORECASE,
)
# Words of questions that texts which answer them seldom have.
_WORDS = "kind type sort name many much long often likely ever recently"
_ASKING = frozenset(_WORDS.split())
_ASKING_EAST = re.compile(
    "什么时候|为什么|什么|甚麼|什麼|哪里|哪儿|哪裡|哪个|怎么|怎麼|多少|谁|誰|吗|嗎|呢|几"
    "|いつ|どこ|なぜ|どう|どの|何|ですか|ますか|ましたか|でしたか"
    "|언제|어디|누구|무엇|무슨|왜|어떻게|몇"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranker sees it."""

    text: str
    terms: Mapping[str, int]
    words: tuple[str, ...]  # those that tell something; never empty
    names: frozenset[str]  # words written like names, in lower case
    focus: tuple[str, ...]  # what sort of thing is asked for: which *instrument* does she play
    asks: str  # one of ASKS
    meaning: str  # what to embed
    span: tuple[int, int] | None  # the time that it speaks of, in milliseconds
    now: int


def parse(text: str, now: int) -> Question:
    """Take a question apart. `now` is when it is asked."""
    text = " ".join(text.split())
    plain = text if text.isascii() else _ASKING_EAST.sub(" ", text)
    found = words(plain) or words(text)
    names = {name.lower() for name in _NAME.findall(text)}
    if found and found[0] in STOP:
        names.discard(found[0])
    telling = tuple(dict.fromkeys(w for w in found if w not in STOP and w not in _ASKING))
    focus = _FOCUS.search(text)
    return Question(
        text=text,
        terms=MappingProxyType(dict(terms(plain) or terms(text))),
        words=telling or tuple(found) or ("",),
        names=frozenset(names),
        focus=tuple(w for w in words(focus[1]) if w not in STOP) if focus else (),
        asks=_asked(text),
        meaning=" ".join(w for w in telling if w not in names) or text,
        span=span(text, now),
        now=now,
    )


def _asked(text: str) -> str:
    for name, pattern in _ASKS:
        if pattern.search(text):
            return name
    return "yes_no" if _YES_NO.match(text.strip()) else "none"
