"""Words cut down to stems, lightly: forms of one word should meet, different words should not."""

import re
from functools import lru_cache

_IRREGULAR = {
    form: base
    for line in """
    go goes went gone going|be been being|do did done doing|have had has having|see saw seen seeing
    buy bought buying|bring brought|think thought|teach taught|catch caught|fight fought|seek sought
    make made making|take took taken taking|give gave given giving|get got gotten getting
    come came coming|become became becoming|begin began begun|run ran running|swim swam swum swimming
    sing sang sung|ring rang rung|drink drank drunk|write wrote written writing|ride rode ridden riding
    drive drove driven driving|eat ate eaten eating|speak spoke spoken|break broke broken
    choose chose chosen choosing|wake woke woken waking|wear wore worn|know knew known|grow grew grown
    throw threw thrown|fly flew flown flies|draw drew drawn|show shown showed|find found|meet met
    meeting|lead led|read reading|feel felt|keep kept|sleep slept|leave left leaving|lose lost losing
    send sent|spend spent|build built|lend lent|sell sold|tell told|hold held|win won winning
    sit sat sitting|stand stood|understand understood|hear heard|say said says|pay paid|lay laid
    fall fell fallen|forget forgot forgotten|forgive forgave forgiven|hide hid hidden hiding
    shoot shot|steal stole stolen|hang hung|stick stuck|strike struck|dig dug|feed fed|bleed bled
    child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese
    use uses used using|die dies died dying|lie lies lied lying|try tries tried trying
    wife wives|knife knives|leaf leaves|shelf shelves|half halves|wolf wolves
    good better best|bad worse worst|mom mum mother mommy|dad father daddy|grandma grandmother granny
    grandpa grandfather|photo photograph pic picture|tv television|movie film|kid kids
    favorite favourite|color colour|bike bicycle|phone telephone|puppy puppies|dog dogs doggo
    """.replace("\n", "|").split("|")
    for words in [line.split()]
    if words
    for base in words[:1]
    for form in words
}
_VOWEL = re.compile("[aeiouy]")
_DOUBLE = re.compile(r"([bdfgmnprt])\1$")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    known = _IRREGULAR.get(word)
    if known is not None:
        return known
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    cut = _singular(word)
    if cut in _IRREGULAR:
        return _IRREGULAR[cut]
    for ending in ("ing", "ed"):
        if cut.endswith(ending) and len(cut) > len(ending) + 2:
            rest = cut[: -len(ending)]
            if _VOWEL.search(rest):
                cut = _DOUBLE.sub(r"\1", rest)
                break
    for ending in ("ation", "ly", "ment", "ness", "er", "or"):
        if cut.endswith(ending) and len(cut) > len(ending) + 3:
            cut = cut[: -len(ending)]
            break
    if len(cut) > 3 and cut.endswith("e"):
        cut = cut[:-1]
    if len(cut) > 3 and cut.endswith("y"):
        cut = cut[:-1] + "i"
    return _IRREGULAR.get(cut, cut)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
