"""The fence around what memory tells an agent. It says that the text is data, and it lets writing
recognise the service's own words when an agent hands them back to be remembered."""

import re
from typing import Literal

MARK = "metamem-memory"
_TAG = re.compile(rf"<(?P<before>[\s/]*){MARK}\b[^<>]*>", re.IGNORECASE)
# What a reader may take for a tag of ours though it is none: another sign, another dash, no end.
_LIKE = re.compile(
    r"(?:[<\u2039\u2329\u27e8\u276e\u3008\ufe64\uff1c]|&(?:lt|#0*60|#x0*3c);)"
    r"(?=[\s/\\\u2044\u2215\uff0f]*metamem[\W_]{0,4}memory)",
    re.IGNORECASE,
)
_INSTEAD = "("  # nothing is taken out then, so that what is left cannot make up a tag


def fenced(text: str, kind: Literal["recall", "briefing", "advice"], identifier: str) -> str:
    """A text as agents read it. A fence inside of it is taken out, so that none can end it early."""
    return f'<{MARK} {kind}="{identifier}">\n{unfenced(text)}\n</{MARK}>'


def unfenced(text: str) -> str:
    """A text without any fence of ours in it, or what looks like one."""
    return _LIKE.sub(_INSTEAD, _TAG.sub("", text))


def around(text: str) -> str:
    """What somebody else said before and after what memory told."""
    kept, since, inside = [], 0, False
    for tag in _TAG.finditer(text):
        ends = "/" in tag["before"]
        if inside and ends:
            since, inside = tag.end(), False
        elif not inside and not ends:
            kept.append(text[since : tag.start()])
            since, inside = tag.start(), True
    return unfenced("".join((*kept, text[since:])))


def is_fenced(text: str) -> bool:
    """Whether a text is, or quotes, what memory once told."""
    return _TAG.search(text) is not None
