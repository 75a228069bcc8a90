"""The score of a text that was handed over as the reply to a question: rules, and no judge.

Only the first so many tokens count. Where there is something to tell, evidence that was found and
an answer that is told both earn, whatever is told beside it costs, and each value that is superseded
or made up halves the score. Where there is nothing to tell, silence is right, words cost, and what
could be taken for an answer earns nothing.
"""

from collections import Counter
from functools import lru_cache

from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.domains.dialogue.conversation import Evidence, Question
from metamem.domains.dialogue.wording import content_words, days, holds, normal_words

VERSION = 2

PARTLY, WHOLLY = 0.5, 0.9  # shares of a line's words: from here it counts, from here as all of it
COMMITTED = 8  # an answer in a text of at most so many tokens is meant as the answer
BARE = 0.5  # what an answer is worth that stands among many other words, without its context
NEAR = 15  # words around an answer in which its context is looked for
WRONG = 0.5  # what is left of a score for each thing told that does not hold (any more)
FORM = 12  # tokens that a line may take for its day, its speaker and the like
YEAR = 4  # digits that are no count of times
QUIET = 12  # tokens in which one may say that nothing is known
POLITE = 0.08  # what it costs to say so, where silence is right
RECALL = 4  # finding counts so many times as much as being brief: the F measure with beta 2


def score(question: Question, reply: str, budget: int) -> float:
    """From 0 to 1. Nothing after the first `budget` tokens plays any part."""
    text = truncate_tokens(reply, budget)[0]
    against = sum(holds(text, phrase) for phrase in question.against)
    tokens = count_tokens(text)
    brief = _brevity(_needed(question), tokens)
    if not question.answerable:
        kept = max(_quiet(tokens), _evidence(question, text) * brief)
        return 0.0 if against else round(kept, 6)
    earned = max(_found(question, text), _told(question, text))
    return round(earned * brief * WRONG**against, 6)


# --- how much is told -----------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _needed(question: Question) -> int:
    """Tokens that a reply may take for nothing: the needed lines with day, speaker and the question
    that they answer, and the answer itself."""
    lines = sum(max(_length(e) for e in group) for group in question.evidence)
    answer = max((count_tokens(", ".join(a)) for a in question.answers), default=0)
    return lines + answer


def _length(evidence: Evidence) -> int:
    prompt = count_tokens(evidence.prompt) + FORM if evidence.prompt else 0
    return count_tokens(evidence.text) + FORM + prompt


def _brevity(needed: int, tokens: int) -> float:
    """What is left of a score where more is told than is needed: F of that share of the reply as
    its precision, with all found; 0.83 at twice as much, 0.42 at eight times."""
    if tokens <= needed:
        return 1.0
    return (1 + RECALL) * needed / (RECALL * needed + tokens)


def _quiet(tokens: int) -> float:
    """What is left where nothing should be told: a little less with a few words, little with many."""
    if tokens <= QUIET:
        return 1 - POLITE * tokens / QUIET
    return (1 - POLITE) * QUIET / tokens


# --- evidence -------------------------------------------------------------------------------


def _found(question: Question, text: str) -> float:
    found = _evidence(question, text)
    if question.suffices:
        return found
    return found * (1 + _share_of_answer(question, text)) / 2  # a line says what, and not when


def _evidence(question: Question, text: str) -> float:
    """The share of what is needed that the text holds."""
    groups = question.evidence
    return sum(max(coverage(e, text) for e in g) for g in groups) / len(groups) if groups else 0.0


def coverage(evidence: Evidence, text: str) -> float:
    """How far some stretch of the text says what the line says, 0 to 1."""
    if not all(holds(text, phrase) for phrase in evidence.must):
        return 0.0
    if holds(text, evidence.text):
        return 1.0
    wanted = content_words(evidence.text)
    needed = {w for phrase in evidence.must for w in normal_words(phrase)}
    words = normal_words(text)
    width = 2 * len(normal_words(evidence.text))
    inside: Counter[str] = Counter()
    best = 0
    for place, word in enumerate(words):
        inside[word] += 1
        if place >= width:
            left = words[place - width]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
        if word in wanted and needed <= inside.keys():
            best = max(best, len(wanted & inside.keys()))
    share = best / len(wanted) if wanted else 0.0
    return min(1.0, max(0.0, (share - PARTLY) / (WHOLLY - PARTLY)))


# --- answers --------------------------------------------------------------------------------


def _share_of_answer(question: Question, text: str) -> float:
    return max(
        (
            sum(_stands_with(question, p, text) for p in phrases) / len(phrases)
            for phrases in question.answers
        ),
        default=0.0,
    )


def _stands_with(question: Question, phrase: str, text: str) -> bool:
    """Whether a phrase is told; a day only where it is the next one before or after what happened,
    so that telling every day there was does not tell when."""
    day = days(normal_words(phrase))
    marks = [normal_words(p) for group in question.evidence for e in group for p in e.must]
    if not day or not marks:
        return holds(text, phrase)
    words = normal_words(text)
    told = days(words)
    for mark in marks:
        for start in range(len(words) - len(mark) + 1):
            if words[start : start + len(mark)] == mark:
                before = [told[place] for place in told if place < start][-1:]
                after = [told[place] for place in told if place > start][:1]
                if set(day.values()) & {*before, *after}:
                    return True
    return False


def _told(question: Question, text: str) -> float:
    """The answer in so many words: whole if it is all that is said or stands in its context, and
    shared among all that are told as if each were the answer."""
    return max(
        (
            _answered(question.text, phrases, text) / (1 + _rivals(question, phrases, text))
            for phrases in question.answers
        ),
        default=0,
    )


def _rivals(question: Question, phrases: tuple[str, ...], text: str) -> int:
    """Other values, days or numbers in the text that could be taken for the answer as well."""
    words = normal_words(text)
    own = {word for phrase in phrases for word in normal_words(phrase)}
    rivals = sum(holds(text, phrase) for phrase in question.rivals)
    if days(tuple(own)):
        return rivals + len({*days(words).values()} - own)
    if any(word.isdigit() for word in own):
        return rivals + len({w for w in words if w.isdigit() and len(w) < YEAR} - own)
    return rivals


def _answered(asked: str, phrases: tuple[str, ...], text: str) -> float:
    committed = count_tokens(text) <= COMMITTED * len(phrases)
    there = [p for p in phrases if holds(text, p) and (committed or not p.isdigit())]
    if not there:  # a number among many words may count anything
        return 0.0
    if committed:
        context = 1.0
    else:
        context = sum(_context(asked, phrase, text) for phrase in there) / len(there)
    return (BARE + (1 - BARE) * context) * len(there) / len(phrases)


def _context(asked: str, phrase: str, text: str) -> float:
    """The share of the question's words that stand near the answer, whatever their endings."""
    wanted = {_stem(w) for w in content_words(asked)}
    words, answer = normal_words(text), normal_words(phrase)
    best = 0
    for start in range(len(words) - len(answer) + 1):
        if words[start : start + len(answer)] == answer:
            near = words[max(0, start - NEAR) : start + len(answer) + NEAR]
            best = max(best, len(wanted & {_stem(w) for w in near}))
    return best / len(wanted) if wanted else 1.0


def _stem(word: str) -> str:
    return word[:4]
