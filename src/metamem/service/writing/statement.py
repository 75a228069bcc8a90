"""A sentence taken apart far enough to be held against another: what it is about, what it says of it."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from metamem.service.writing.wordlist import listed

_TOKEN = re.compile(r"v?\d+(?:[.:]\d+)*%?|[^\W\d_][\w]*(?:['’]\w+)?|[^\W_]+")
_PAIRED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MOST_TOKENS = 120  # a longer text is no single statement

NEGATIONS = listed(
    "not no never none neither nor without cannot can't don't doesn't didn't isn't aren't wasn't won't"
    " wouldn't shouldn't hasn't haven't stopped quit"
)
# Words that carry no content of their own. Negations and corrections are read before they are left out.
_EMPTY = (
    listed("""a about again all also always am an and another any anymore are as at be been being both but by can could
    currently did do does doing done each either every finally for from further get gets got had has have having he her
    here hers him his how i if in instead into is it its itself just like longer many may me might mine more most much
    must my need now of off on once one only or other our ours out over own per please quite rather really same shall
    she should since so some still such than that the their theirs them then there these they this those though through
    to today too under until up upon us very via was we well were what when where which while who whom whose why will
    with would yet you your yours actually correction update updated correct turns turned apparently anyway however
    we're i'm it's that's i've we've he's she's they're yesterday tomorrow""")
    | NEGATIONS
)
_IRREGULAR = {
    "used": "use",
    "using": "use",
    "ran": "run",
    "lived": "liv",
    "kept": "keep",
    "sat": "sit",
}
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))


@lru_cache(maxsize=1 << 16)
def stem(token: str) -> str:
    """A word without the commonest endings; good enough to hold one form against another."""
    if token in _IRREGULAR:
        return _IRREGULAR[token]
    if len(token) <= 3 or not token.isascii() or token[0].isdigit():
        return token
    for ending, instead in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            if token.endswith(("ss", "us", "is")):
                break
            token = token[: -len(ending)] + instead
            break
    if len(token) > 3 and token[-1] == token[-2] and token[-1] not in "lsz":
        token = token[:-1]
    return token[:-1] if token.endswith("e") and len(token) > 3 else token


# Verbs whose object there is usually one of at a time.
FUNCTIONAL = frozenset(
    stem(verb)
    for verb in listed("""is are was were be run live work use cost weigh belong report last expire start begin end open close
    prefer want need require own host deploy locate call name set default equal mean stand sit reside drive
    rent study manage lead listen take store keep point base write ship pin support has move switch""")
)
BEING = listed("is are was were be been")
_RELATING = {
    "at": "at",
    "for": "at",
    "in": "in",
    "on": "on",
    "with": "with",
    "as": "as",
    "by": "by",
}
# Words after which a verb's form is a noun: "the tests need …", "our build runs on …".
_BEFORE_NOUNS = listed(
    "the a an my your his her its our their this that these those every each all both no some any"
)
# Verbs of which a thing has one subject at a time, so that another subject is another value.
OF_ONE = frozenset(stem(verb) for verb in listed("own lead manage maintain host chair head"))
# What there is one of.
ATTRIBUTES = frozenset(
    stem(noun)
    for noun in listed("""address age author birthday capital captain city color colour contact count cost database date
    deadline default domain editor email favorite favourite framework height host id king language lead leader license
    limit manager maintainer max maximum minimum model name number owner password path phone port president price
    primary provider quota rate region release room salary shell size status surname theme threshold timeout timezone
    title url username value version weight width wife husband""")
)
# Verbs of which one does many: another object is another fact, not a contradiction.
MANIFOLD = frozenset(
    stem(verb)
    for verb in listed("""like love enjoy hate know visit meet met buy bought read add fix play speak saw see watch eat ate cook learn
    mention say said tell told ask find found make made create sent send receive got give gave try tried attend went
    go travel include contain import call test merge review discuss talk help teach taught plant adopt collect win won
    lost break broke paint drew draw explain note notice report""")
)
_OPPOSITES = """enabled disabled|enable disable|on off|true false|allowed forbidden|allow forbid|allow block
|like dislike|love hate|always never|accept reject|accepted rejected|required optional|public private|sync async
|synchronous asynchronous|increase decrease|increased decreased|fast slow|up down|open closed|pass fail|passes fails
|present absent|supported unsupported|safe unsafe|valid invalid|married single|married divorced|cheap expensive
|more less|left right|hot cold|alive dead|online offline|active inactive|mutable immutable|possible impossible
|early late|internal external|approved denied|approved rejected|agree disagree|vegetarian carnivore|first last
|mandatory optional|include exclude|included excluded|stable unstable|deprecated recommended|signed unsigned"""
OPPOSITES = frozenset(frozenset(pair.split()) for pair in _OPPOSITES.replace("\n", "").split("|"))
_OPPOSED = frozenset(word for pair in OPPOSITES for word in pair)

_CUES = re.compile(
    r"\b(?:actually|correction|no longer|not? any\s?more|any ?more|instead of|rather than|switched|migrated|moved (?:from"
    r"|away|over|to)|replaced?|changed|renamed|swapped|now (?:uses?|runs?|is|lives?|works?|prefers?|has|lives|on|at)"
    r"|(?:is|are|am|was|were|we|he|she|they|i) now|used to|formerly|previously|upgraded|downgraded|turns out|was wrong"
    r"|were wrong|not true|incorrect|mistaken|updated?(?: to)?|in fact|has (?:since )?(?:become|been (?:changed|moved|replaced"
    r"|raised|lowered|extended|renamed))|as of|dropped|abandoned|stopped|quit|postponed|rescheduled|raised|lowered"
    r"|bumped|extended)\b|→|->|\bnow[.!]?$",
    re.IGNORECASE,
)
_ARROW = re.compile("→|->")
# No cue is without one of these.
_CUE_WORDS = listed(
    """actually correction longer anymore more instead rather switched migrated moved replace replaced changed renamed
    swapped now used formerly previously upgraded downgraded turns wrong true incorrect mistaken update updated fact
    has as dropped abandoned stopped quit postponed rescheduled raised lowered bumped extended"""
)
# What was so before, in the words of a correction.
_FORMER = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:switched|migrated|moved|changed|went|renamed|upgraded|downgraded|converted|swapped|bumped|raised|lowered|extended)"
        r"(?:\s+\w+){0,5}?\s+from\s+(?P<old>[^.;]+?)\s+(?:to|over to|onto)\s+",
        r"\b(?:replaced?|swapped|dropped|abandoned|renamed)\s+(?P<old>[^.;]+?)\s+(?:with|by|for|in favou?r of|to)\s+",
        r"\b(?:instead of|rather than|in place of|not)\s+(?P<old>[^.,;]+?)(?:$|[.,;]|\s+(?:but|any\s?more|now|since)\b)",
        r"\bno longer\s+(?:\w+\s+)?(?:on |in |at |with |by )?(?P<old>[^.,;]+?)(?:$|[.,;]|\s+(?:but|since|because)\b)",
        r"\b(?:moved away from|stopped using|dropped|abandoned|quit)\s+(?P<old>[^.,;]+)",
        r"(?P<old>[\w.-]+)\s*(?:→|->)\s*",
    )
)


@dataclass(frozen=True)
class Statement:
    """A text, with what is compared of it worked out when it is asked for."""

    text: str

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        found: list[str] = []
        for token in _TOKEN.findall(self.text.replace("’", "'"))[:MOST_TOKENS]:
            if _PAIRED.match(token):
                found += [token[i : i + 2] for i in range(max(1, len(token) - 1))]
            else:
                found.append(token.removesuffix("'s").lower())
        return tuple(found)

    @cached_property
    def content(self) -> frozenset[str]:
        return frozenset(self.ordered)

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """Stems of the words that carry content, in their order."""
        return tuple(stem(token) for token in self.tokens if token not in _EMPTY)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(token for token in self.tokens if token[:1].isdigit())

    @cached_property
    def negated(self) -> bool:
        return sum(token in NEGATIONS for token in self.tokens) % 2 == 1

    @cached_property
    def opposed(self) -> frozenset[str]:
        """Words that have an opposite."""
        return frozenset(token for token in self.tokens if token in _OPPOSED)

    @cached_property
    def corrects(self) -> bool:
        if _CUE_WORDS.isdisjoint(self.tokens) and not _ARROW.search(self.text):
            return False
        return _CUES.search(self.text) is not None

    @cached_property
    def former(self) -> frozenset[str]:
        """What a correction says was so before."""
        for pattern in _FORMER:
            if (found := pattern.search(self.text)) is not None:
                return Statement(found["old"]).content
        return frozenset()

    @cached_property
    def verb_at(self) -> int:
        """The place of the first verb that is known, among all tokens; -1 where there is none."""
        for at, token in enumerate(self.tokens):
            if not at or self.tokens[at - 1] in _BEFORE_NOUNS:
                continue
            if stem(token) in FUNCTIONAL or stem(token) in MANIFOLD or stem(token) in OF_ONE:
                return at
        return -1

    @cached_property
    def manifold(self) -> bool:
        """Whether more than one of what it says can be so; "was found" is as "found" is."""
        verbs = self.tokens[self.verb_at : self.verb_at + 2] if self.verb_at >= 0 else ()
        if verbs and verbs[0] not in BEING:
            verbs = verbs[:1]
        return any(stem(verb) in MANIFOLD for verb in verbs)

    @cached_property
    def relating(self) -> str:
        """The small word after the verb that says how its object is meant: at, in, on, …"""
        after = self.tokens[self.verb_at + 1 : self.verb_at + 2] if self.verb_at >= 0 else ()
        return _RELATING.get(after[0], "") if after else ""

    @cached_property
    def attribute(self) -> bool:
        """Whether the subject is something that has one value: an owner, a port, a deadline."""
        return bool(self.subject & ATTRIBUTES)

    @cached_property
    def subject(self) -> frozenset[str]:
        """What stands before the verb; the first word of content where no verb is known."""
        if self.verb_at < 0:
            return frozenset(self.ordered[:1])
        before = self.tokens[: self.verb_at]
        return frozenset(stem(token) for token in before if token not in _EMPTY)

    @cached_property
    def predicate(self) -> frozenset[str]:
        return self.content - self.subject


@lru_cache(maxsize=2048)
def statement(text: str) -> Statement:
    """A text taken apart, once for as long as others are held against it."""
    return Statement(text)
