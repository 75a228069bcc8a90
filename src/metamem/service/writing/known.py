"""A secret that is recognised once in a session is taken out wherever else it stands in it.

`password=…` tells a secret by what stands around it; `echo …` later in the same session does not.
What is known lives in memory only, for as long as the session is read.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core.secrets import redact
from metamem.service.writing.clean import clean

_SHORTEST, _SHORTEST_WORD = 6, 8
_PIECE = re.compile(r"[A-Za-z0-9+=_-]{20,}")  # of a key over several lines, or of an address
# Set as passwords everywhere, and words of other things: they are nobody's secret.
_DEFAULTS = {"password", "postgres", "postgresql", "changeme", "development", "administrator"}


class KnownSecrets:
    """Secrets of one session, and texts without them."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def learn(self, text: str) -> None:
        """Remember what is a secret in a text."""
        for given in {text, clean(text)}:
            for kind, secret in redact(given).found:
                for one in (secret, *secret.splitlines(), *_PIECE.findall(secret)):
                    if _telling(one.strip()):
                        self._kinds.setdefault(one.strip(), kind)
                        self._pattern = None

    def out_of(self, text: str) -> str:
        """The text with `[secret: KIND]` for each of them."""
        if not self._kinds:
            return text
        if self._pattern is None:
            longest = sorted(self._kinds, key=len, reverse=True)
            ways = "|".join(re.escape(secret) for secret in longest)
            self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{ways})(?![A-Za-z0-9])")
        return self._pattern.sub(lambda one: f"[secret: {self._kinds[one.group()]}]", text)

    def out_of_all(self, value: Any) -> Any:
        """A value of JSON without them."""
        if isinstance(value, str):
            return self.out_of(value)
        if isinstance(value, Mapping):
            return {name: self.out_of_all(each) for name, each in value.items()}
        if isinstance(value, Sequence):
            return [self.out_of_all(each) for each in value]
        return value


def _telling(secret: str) -> bool:
    """Whether it can be told from other text: `admin` must not take every admin out."""
    if secret.isalpha():
        return len(secret) >= _SHORTEST_WORD and secret.lower() not in _DEFAULTS
    return len(secret) >= _SHORTEST and not secret.isdigit() and "PRIVATE KEY" not in secret
