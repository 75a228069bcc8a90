"""Characters that act instead of being seen.

Learned code and game texts may hold sequences that a terminal would obey, or marks that make code
read other than it runs, and halves of characters that no terminal can be given. Wherever people look, such
characters are spelled out.
"""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def spelled_out(text: str) -> str:
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_a_line(text: str) -> str:
    """A name, which may have the ends of lines in it as well."""
    return spelled_out(text).replace("\n", "\\n").replace("\t", "\\t")
