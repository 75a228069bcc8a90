"""Characters that nobody can see are taken out of texts, and images out of their letters.

Hidden characters can split a word that is looked for, or turn a line around for the eye alone. What
emoji and scripts need of them (joiners between pictures or letters) stays.
"""

import re

# Everything that controls and does not print, but for tab and line feed.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\ud800-\udfff]")
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_JOINER = re.compile("[\u200c\u200d]")
_JOINED = re.compile("[\u0600-\u08ff\u0900-\u0dff\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_IMAGE = re.compile(
    r"data:([a-z]+/[a-z0-9.+-]{1,40});base64,[A-Za-z0-9+/=_-]{40,}(?:\n[A-Za-z0-9+/=_-]{20,})*"
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{1000,}={0,2}")
DATA = re.compile(r"\[data(?:: [a-z]+/[a-z0-9.+-]{1,40})?\]")  # what stands in their place
_ASCII = re.compile("[\t\n\x20-\x7e]*")


def clean(text: str) -> str:
    """A text as it is seen."""
    if not _ASCII.fullmatch(text):
        text = _LINE_ENDS.sub("\n", text)
        text = _HIDDEN.sub("", _CONTROLS.sub("", text))
        text = _JOINER.sub(_joiner, text)
    if len(text) > 64:
        text = _IMAGE.sub(lambda found: f"[data: {found[1]}]", text)
        text = _BLOB.sub("[data]", text)
    return text.strip()


def one_line(text: str, most: int) -> str:
    """A name, a title or a place: seen characters, single spaces, not too long."""
    return " ".join(clean(text).split())[:most].rstrip()


def is_disguised(text: str) -> bool:
    """Whether a text holds characters that hide words or show them in another order."""
    return _REORDERING.search(text) is not None


def _joiner(found: re.Match[str]) -> str:
    text, at = found.string, found.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return found.group() if _JOINED.match(before) or _JOINED.match(after) else ""
