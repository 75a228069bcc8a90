"""Who and what a text is about: names that stand out in it, and those that its scope knows already.

Names are lower-cased, so that one thing has one name. No model is asked: what begins with a capital
inside of a sentence, stands in quotes or backticks, or is spelled like a path, an identifier, an
@name or a version is taken for a name.
"""

import re
from collections.abc import Iterable

from metamem.service.writing.clean import one_line
from metamem.service.writing.wordlist import listed

MOST = 24  # names of a fact
LONGEST = 80  # characters of a name
WORDS = 3  # of the longest name that is looked up among those of the scope

_URL = re.compile(r"https?://([^\s/?#:@]+)[^\s<>\"')\]]*")
_AT = re.compile(r"(?<![\w.@/])@([A-Za-z][\w.-]*\w)")
_TICKED = re.compile(r"`([^`\n]{2,80})`")
_QUOTED = re.compile(r"[\"“«「]([^\"”»」\n]{2,60})[\"”»」]")
_PATH = re.compile(
    r"(?<![\w/.@+-])(?:~?/|\.{1,2}/|[A-Za-z]:\\)?(?:[\w.@+-]+[/\\])+[\w.@+-]*\w|(?<![\w/.-])[\w-]+\.(?:py|ts|tsx|js"
    r"|jsx|go|rs|c|h|cc|cpp|java|rb|php|sh|sql|md|txt|json|jsonl|toml|yaml|yml|ini|cfg|lock|csv|html|css|ipynb|env)\b"
)
_CODE = re.compile(
    r"\b(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?|[a-z]+[a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
    r"|[a-z]+[0-9]*(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|\w+\(\))"
)
_TICKET = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<![\w#])#\d{1,7}\b")
_VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)*(?:[-+][\w.]+)?\b")
# Of alphabets that have large and small letters: other scripts show no names by them.
_CAPITAL = f"[A-Z{''.join(filter(str.isupper, map(chr, range(0xC0, 0x590))))}]"
_CAPITALS = re.compile(
    rf"(?<!\w){_CAPITAL}[\w’'&+-]*(?:\.[A-Z]\w*)*(?:\s+(?:(?:of|de|van|von|der|den|la|le|da|the|and|&)\s+)?{_CAPITAL}[\w’'&+-]*"
    r"|\s+\d+(?:\.\d+)*\b)*"
)
_SENTENCE = re.compile(r"(?:^|[.!?:;\n]|[-*•]\s|^\s*\d+[.)])\s*[\"'“‘(\[]*$")
# What stands out by its signs; without one of them none of these is there.
_FORMS = (
    (_TICKED, 1),
    (_PATH, 0),
    (_QUOTED, 1),
    (_AT, 0),
    (_TICKET, 0),
    (_CODE, 0),
    (_VERSION, 0),
)
_SIGNS = re.compile(r"[`/\\\"“«「@#_(]|\.\w|[a-z0-9][A-Z]|[A-Z0-9]-\d")
_EDGE = ".,;:!?'\"`’‘“”()[]{}<> \t"
_WORD = re.compile(r"[\w@#][\w.@#/+-]*")

# "Ada lives in Berlin": what follows the name of somebody who does something, or is spoken to.
_ACTS = re.compile(
    r"\s+(?:is|was|has|had|will|said|says|told|went|met|lives?d?|work(?:s|ed)|likes?d?|loves?d?|prefers?|wants?"
    r"|asked|thinks|moved|owns|uses|and\s+[A-Z]\w+)\b|[,:]"
)

# Words that begin sentences or are written with a capital without being names.
_COMMON = listed("""a about actually after all also although always am an and another any are as at be because been before but by
    can could did do does don't during each either else even every few first for from had has have he her here hers hi
    hello hey his how however i i'd i'll i'm i've if in instead into is it it's its just last let let's like make many may
    maybe me more most my need never new next no not nothing now of off ok okay on once one only or other our ours out over
    per please previously quite really same second see she should since so some sometimes still such sure than thank
    thanks that that's the their theirs them then there there's these they they're this those though three through to
    today tomorrow tonight too two under until up us use used uses using very was wasn't we we'll we're we've well were
    what when where which while who why will with without won't would yes yesterday yet you you're your yours again
    added adds changed decided fixed found got keep keeps made moved no-one remember run runs set switched tests told
    total try user users wants went wow great good oh note todo fixme error warning info debug true false null none""")
_TIMES = listed("""monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december""")


def entities(text: str, known: Iterable[str] = ()) -> tuple[str, ...]:
    """The names in a text, with those that were given; in order, none twice, not too many."""
    found = [one_line(name, LONGEST).lower() for name in known]
    rest = text
    if "://" in text:
        found += [_name(host) for host in _URL.findall(text)]
        rest = _URL.sub(" ", rest)  # its path is no file
    if _SIGNS.search(rest):
        for pattern, group in _FORMS:
            found += [_name(match.group(group)) for match in pattern.finditer(rest)]
    found += _capitals(rest)
    return tuple(dict.fromkeys(name for name in found if _fit(name)))[:MOST]


def phrases(text: str) -> tuple[str, ...]:
    """What may be a name that the scope knows: words and short runs of them, lower-cased."""
    words = [word.strip(_EDGE).lower() for word in _WORD.findall(text)[:80]]
    ends = [len(word) > 1 and word not in _COMMON for word in words]
    runs: dict[str, None] = {}
    for at, begins in enumerate(ends):
        if begins:
            run = words[at]
            runs[run] = None
            for last in range(at + 1, min(at + WORDS, len(words))):
                run = f"{run} {words[last]}"
                if ends[last]:
                    runs[run] = None
    return tuple(run for run in runs if len(run) <= LONGEST and not run.isdigit())


def with_vocabulary(found: tuple[str, ...], known: Iterable[str]) -> tuple[str, ...]:
    """A fact's names, and those of its scope that its text holds."""
    return tuple(dict.fromkeys((*found, *known)))[:MOST]


def _capitals(text: str) -> list[str]:
    names = []
    for match in _CAPITALS.finditer(text):
        words = match.group().split()
        first = _SENTENCE.search(text[max(0, match.start() - 8) : match.start()]) is not None
        while words and (words[0].strip(_EDGE).lower() in _COMMON or words[0].isdigit()):
            words, first = words[1:], False
        while words and words[-1].strip(_EDGE).lower() in _COMMON:
            words = words[:-1]
        name = _name(" ".join(words))
        if not name or name in _TIMES or name in _COMMON:
            continue
        # At the beginning any word has a capital: one alone is a name if it stands out otherwise.
        if first and len(words) == 1 and not _stands_out(words[0], text, match.end()):
            continue
        names.append(name)
    return names


def _stands_out(word: str, text: str, end: int) -> bool:
    bare = word.strip(_EDGE)
    if len(bare) > 1 and (bare.isupper() or any(c.isupper() or c.isdigit() for c in bare[1:])):
        return True
    if word.endswith(("'s", "’s")):
        return True
    return _ACTS.match(text, end) is not None


def _name(text: str) -> str:
    name = " ".join(text.split()).strip(_EDGE).lower()
    return re.sub(r"['’]s$", "", name)


def _fit(name: str) -> bool:
    return 1 < len(name) <= LONGEST and any(c.isalnum() for c in name) and not name.isdigit()
