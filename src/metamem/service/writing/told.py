"""What a user decided, wanted or corrected in so many words, found by rule in what they typed.

Only sentences that can be understood alone are taken, word for word: a rule that guesses fills memory
with junk, and junk costs more than what is missed. Long prompts are left out, as they quote others.
"""

import re
from dataclasses import dataclass

from metamem.service.writing.statement import BEING, FUNCTIONAL, Statement, stem

LONGEST_LINE = 600  # characters of a prompt; longer ones hold pasted texts
LONGEST = 240  # of a sentence
_QUOTING = re.compile(
    r"```|^\s*(?:>|\||\$ |\d{4}-\d\d-\d\d[ T]\d\d:|at \w+\.|File \")|https?://\S{60}", re.M
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LEAD = r"^(?:(?:ok(?:ay)?|yes|yeah|right|so|and|alright|good|fine|well|please)[,.:!]?\s+)*"
_DECIDED = re.compile(
    _LEAD + r"(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|settled) (?:to|on|that|against)\b"
    r"|decision:\s|(?:let's|let us|we'll|we will|we're going to) (?:go with|stick (?:to|with)|switch to|migrate to"
    r"|standardi[sz]e on|adopt)\b"
    r"|(?:let's|let us|we'll|we will) use\b(?=.*\b(?:for|as|instead of|rather than|everywhere|by default)\b))",
    re.IGNORECASE,
)
_ACTS = (
    r"(?:use|run|commit|push|deploy|write|add|put|call|edit|touch|change|import|mock|skip|format|ask|create|delete"
    r"|merge|rebase|release|install|name|test|build|log|store|return|raise|rename|remove|squash|sign)"
)
_WANTED = re.compile(
    _LEAD + r"(?:from now on|going forward|in (?:the )?future)\b[,:]?\s"
    rf"|{_LEAD}(?:always|never) {_ACTS}\b",
    re.IGNORECASE,
)
_NOTED = re.compile(r"^(?:please )?remember(?: that\b|:)\s*(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_NO = r"(?:no|nope|wrong|actually|correction|not quite|that(?:'s| is) (?:wrong|not (?:right|true|correct)))"
_REFUSES = re.compile(_NO + "[.!]?", re.IGNORECASE)
_CORRECTED = re.compile(
    rf"^{_NO}"
    r"(?:[,:;.!]|\s+[-–—]+)\s*(?:actually,?\s+)?(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_INSTEAD = re.compile(
    rf"^(?:please\s+)?(?:{_ACTS}|don'?t {_ACTS}|do not {_ACTS})\b(?=.*(?:,?\s+not\s|\binstead of\b|\brather than\b"
    r"|\binstead[.!]?$))",
    re.IGNORECASE,
)
# What points at something outside of the sentence, or leaves it open.
_POINTING = re.compile(
    r"\b(?:it|that|this|those|these|them|they|he|she|one|ones|former|latter|above|below|option|approach|same|so"
    r"|your|yours|you|there|here)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\?|\b(?:maybe|perhaps|might|probably|not sure|i think|i guess|for now|this time|this once|for the moment|wait"
    r"|let me|let's see|mind)\b",
    re.IGNORECASE,
)
_THAT = re.compile(
    r"\b(?:decided|agreed|so|such|make sure|sure|says?|means?) that\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of the user's that is worth a fact of its own."""

    text: str
    type: str


def told(line: str) -> list[Told]:
    """What one prompt of the user tells for later; mostly nothing."""
    if len(line) > LONGEST_LINE or _QUOTING.search(line):
        return []
    found: list[Told] = []
    refused = False  # by a sentence of its own: "No. The port is 5433."
    for part in _SENTENCE.split(line.strip()):
        sentence = part.strip(" -*\t")
        one = _read(f"no, {sentence}" if refused else sentence)
        if one is not None and one not in found:
            found.append(one)
        refused = _REFUSES.fullmatch(sentence) is not None
    return found


def correction(line: str) -> str:
    """What a prompt says in the place of something that was said before; empty where it does not.
    It need not be understood alone: whoever asks knows what stands before it."""
    if len(line) > LONGEST_LINE or _QUOTING.search(line):
        return ""
    first, *others = (part.strip(" -*\t") for part in _SENTENCE.split(line.strip()))
    if _REFUSES.fullmatch(first) and others:
        first = f"no, {others[0]}"
    if len(first) > LONGEST or _OPEN.search(first):
        return ""
    if (refused := _CORRECTED.match(first)) is not None:
        return refused["rest"]
    return first if Statement(first).corrects else ""


def _read(sentence: str) -> Told | None:
    if not 12 <= len(sentence) <= LONGEST or _OPEN.search(sentence):
        return None
    if (corrected := _CORRECTED.match(sentence)) is not None:
        rest = corrected["rest"]
        if (_states(rest) or _INSTEAD.match(rest)) and _alone(rest):
            return Told(_sentence(rest), "correction")
        return None
    if (noted := _NOTED.match(sentence)) is not None:
        return Told(_sentence(noted["rest"]), "note") if _alone(noted["rest"]) else None
    for form, type_ in ((_DECIDED, "decision"), (_WANTED, "preference")):
        if form.match(sentence) and _alone(sentence):
            return Told(_sentence(re.sub(_LEAD, "", sentence, flags=re.IGNORECASE)), type_)
    return None


def _alone(sentence: str) -> bool:
    """Whether a sentence can be understood without those around it."""
    about = Statement(sentence)
    return len(about.content) >= 2 and not _POINTING.search(_THAT.sub("", sentence))


def _states(sentence: str) -> bool:
    """Whether it says of something what it is or does: a subject, and a verb of being or having."""
    tokens = Statement(sentence).tokens
    return any(
        (verb in BEING or stem(verb) in FUNCTIONAL) and Statement(" ".join(tokens[:at])).content
        for at, verb in enumerate(tokens[:-1])
    )


def _sentence(text: str) -> str:
    text = text.strip()
    whole = text[:1].upper() + text[1:]
    return whole if whole[-1:] in ".!" else f"{whole}."
