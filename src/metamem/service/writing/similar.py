"""Whether a new fact repeats, replaces or contradicts an older one, by their words.

Whole words and what they are about are compared, never pieces of words. The answer is a suspicion with
a weight: only where the new fact says itself that something changed is it taken for a replacement.
"""

from dataclasses import dataclass

from metamem.service.words import LinkKind
from metamem.service.writing.statement import OF_ONE, OPPOSITES, Statement, stem

SAME = 0.75  # share of all words that two texts have in common when one repeats the other
CLOSE = 0.6  # share of the shorter one's words, where the rest is turned around
LITTLE = 0.3  # less in common, and two texts have nothing to do with each other
STRONG = 0.7  # the least weight of a replacement that is made without asking anybody


@dataclass(frozen=True, slots=True)
class Relation:
    """What one fact has to do with an older one, and why that is thought."""

    kind: LinkKind
    weight: float
    reason: str


def compare(new: Statement, old: Statement, *, correction: bool = False) -> Relation | None:
    """The relation of a new statement to an old one. `correction`: it was given as one."""
    shared = new.content & old.content
    if not shared:
        return None
    corrects = correction or new.corrects
    if corrects and (found := _replaced(new, old, shared)) is not None:
        return found
    alike = len(shared) / len(new.content | old.content)
    near = len(shared) / min(len(new.content), len(old.content))
    if near < LITTLE:
        return None
    turned = _turned(new, old)
    if turned and _same_subject(new, old):
        bare = max(len(new.content), len(old.content)) <= 3 and new.subject == old.subject
        if (len(shared) >= 2 and near >= CLOSE) or (bare and bool(new.subject)):
            return _conflict(corrects, 0.5 + alike / 2, turned)
    if alike >= SAME and not turned and new.numbers == old.numbers and not _values(new, old):
        return Relation("repeats", round(alike, 3), "almost the same words")
    if corrects and new.numbers != old.numbers and _but_numbers(new) == _but_numbers(old):
        return _conflict(corrects, 0.4 + 0.6 * near, "the same, with another number")
    if _same_subject(new, old) and (why := _other_value(new, old, shared, corrects)):
        return _conflict(corrects, 0.4 + 0.6 * near, why)
    if why := _other_subject(new, old):
        return _conflict(corrects, 0.4 + 0.6 * near, why)
    return None


def _replaced(new: Statement, old: Statement, shared: frozenset[str]) -> Relation | None:
    """A correction that names what was so before, and an old fact that says just that."""
    former = new.former & old.content
    rest = old.content - former
    if not former or len(former) < len(new.former) / 2:
        return None
    if not former & old.predicate and len(rest & shared) < max(1.0, CLOSE * len(rest)):
        return None
    if new.subject and old.subject and not new.subject & old.subject:
        # "We switched from A to B": whoever "we" are, one that is told to use A is meant.
        about = shared - former
        # A number alone names nothing: any two facts may hold the same one.
        if not about and (old.manifold or len(old.content) > 5 or former <= new.numbers):
            return None
    weight = min(1.0, 0.7 + 0.1 * len(shared - former) + 0.1 * (former == new.former))
    named = " ".join(sorted(former))
    return Relation("supersedes", round(weight, 3), f"it says that {named!r} is over")


def _conflict(corrects: bool, weight: float, why: str) -> Relation:
    kind: LinkKind = "supersedes" if corrects else "contradicts"
    return Relation(kind, round(min(1.0, weight), 3), why)


def _turned(new: Statement, old: Statement) -> str:
    """Whether one denies what the other says, in a word that turns it around."""
    for one in sorted(new.opposed - old.opposed):
        for other in sorted(old.opposed - new.opposed):
            if frozenset((one, other)) in OPPOSITES:
                return f"{one!r} against {other!r}"
    return "one denies what the other says" if new.negated != old.negated else ""


def _same_subject(new: Statement, old: Statement) -> bool:
    one, other = new.subject, old.subject
    if not one or not other:
        return bool(new.content & old.content)
    return one <= other or other <= one


def _values(new: Statement, old: Statement) -> bool:
    """Whether each says something in the place of what the other says."""
    return bool(new.predicate - old.content) and bool(old.predicate - new.content)


def _but_numbers(statement: Statement) -> frozenset[str]:
    return statement.content - statement.numbers


def _other_value(new: Statement, old: Statement, shared: frozenset[str], corrects: bool) -> str:
    """The same of the same, and another value: one place differs, and all around it is shared."""
    ours, theirs = new.predicate - old.content, old.predicate - new.content
    if not ours or not theirs:
        return ""
    subjects = new.subject | old.subject
    if not (shared & subjects) and subjects:
        return ""
    if (new.manifold or old.manifold) and not corrects:
        return ""
    if new.relating and old.relating and new.relating != old.relating:
        return ""  # at a company, on weekends
    one, other = (new.numbers - old.numbers) & ours, (old.numbers - new.numbers) & theirs
    settled = len(shared) >= 2 or new.subject == old.subject
    if one and other and settled and max(len(ours), len(theirs)) <= 3:
        return f"{_told(one)} against {_told(other)}"
    if new.verb_at < 0 or old.verb_at < 0 or max(len(ours), len(theirs)) > 3:
        return ""
    # What is said of the subject before the value must be shared, or the subject has one value only.
    if (shared - subjects) or _same_frame(new, old) or (new.attribute and old.attribute):
        return f"{_told(ours)} against {_told(theirs)}"
    return ""


def _other_subject(new: Statement, old: Statement) -> str:
    """The same of what has one subject at a time, of another: who owns, leads, maintains something."""
    if new.verb_at < 0 or old.verb_at < 0 or not new.subject or not old.subject:
        return ""
    verbs = {stem(each.tokens[each.verb_at]) for each in (new, old)}
    if len(verbs) > 1 or not verbs <= OF_ONE or new.subject & old.subject:
        return ""
    of, before = new.predicate - verbs, old.predicate - verbs
    if not before or not before <= of or len(of - before) > 1:
        return ""
    return f"{_told(new.subject)} against {_told(old.subject)}"


def _same_frame(new: Statement, old: Statement) -> bool:
    """The same verb and the same small word after it: lives in, is at."""
    verbs = {new.tokens[new.verb_at], old.tokens[old.verb_at]}
    return len(verbs) == 1 and bool(new.relating) and new.relating == old.relating


def _told(words: frozenset[str]) -> str:
    return repr(" ".join(sorted(words)))
