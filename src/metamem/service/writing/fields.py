"""What callers give, made fit to be kept: seen characters only, no secrets, no more than there is room for.

Everything that callers write passes through here, whatever the field, before it is kept or told in an error.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

from metamem.core.errors import UsageError
from metamem.core.secret_rules import rules
from metamem.core.secrets import redact
from metamem.service.words import TRUST
from metamem.service.writing.clean import clean, one_line

NAME, PLACE, TITLE, REASON = (
    120,
    500,
    200,
    500,
)  # characters of an author, an origin, a title, a reason
LONGEST = 200_000  # characters of anything
_NAMES = 100  # that are looked at
_MARGIN, _SECRET = 20_000, 5000  # characters beyond what is kept; of the longest secret, about
_EPOCHS = 10**14  # milliseconds: some three thousand years to either side of 1970
_HIDDEN = "hidden-"  # how ids begin in whose place a digest stands
_DIGEST = re.compile(rf"{_HIDDEN}[0-9a-f]{{24}}")  # a name that somebody gave may begin so, too
_PATH = 5000  # characters: systems have no longer paths
_NO_SECRET = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]?\d{1,9}")


@dataclass(slots=True)
class Fields:
    """Cleans fields one by one, and remembers what kinds of secrets were in them."""

    kinds: dict[str, None] = field(default_factory=dict)

    def text(self, given: str, most: int = LONGEST) -> str:
        """A text, of which at most so many characters are kept."""
        if not _string(given):
            return ""
        cleaned = clean(given)
        if len(cleaned) <= most:
            return self._without_secrets(cleaned)
        # A secret that is cut in two is not recognised any more: more is searched than is kept.
        found = self._without_secrets(cleaned[: most + _MARGIN])
        return found[: min(most, max(0, len(found) - _SECRET))].rstrip()

    def line(self, given: str, most: int) -> str:
        return one_line(found, most) if (found := self.text(given)) else ""

    def lines(self, given: Sequence[str], most: int) -> tuple[str, ...]:
        if isinstance(given, str):
            raise UsageError("a list of names was expected, not one text")
        return tuple(self.line(each, most) for each in given[:_NAMES])

    @property
    def redacted(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def _without_secrets(self, text: str) -> str:
        if not text:
            return text
        found = redact(text)
        if not text.isascii():  # letters of other widths and forms read the same
            as_read = redact(unicodedata.normalize("NFKC", text))
            found = as_read if set(as_read.kinds) - set(found.kinds) else found
        self.kinds |= dict.fromkeys(found.kinds)
        return found.text


def identifier(given: str) -> str:
    """An id that somebody else gave, as it is kept: the same for the same id, and another for every other.
    In the place of one that holds a secret, or that is too long, stands a digest."""
    return _identifier(_string(given))


@lru_cache(4096)
def _identifier(given: str) -> str:
    if _NO_SECRET.fullmatch(given):
        return given
    whole = one_line(given, LONGEST)
    return hidden(given) if len(whole) > NAME or _holds_secret(given) else whole


def _holds_secret(given: str) -> bool:
    """Whether a secret stands anywhere in an id or a path, where it may be glued to what is before it."""
    seen = Fields()
    seen.text(given)
    if seen.kinds:
        return True
    low = given.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")  # as long
    for word in {word for rule in rules() for word in rule.near}:
        at = low.find(word)
        while at >= 0 and not seen.kinds:
            if given[at - 1 : at].isalnum() or given[at - 1 : at] == "_":
                seen.text(given[at:])
            at = low.find(word, at + 1)
    return bool(seen.kinds)


def hidden(given: str) -> str:
    """What stands in the place of something that must not be kept and has to be known again."""
    digest = blake2b(given.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return f"{_HIDDEN}{digest}"


def is_hidden(kept: str) -> bool:
    """Whether that stands there."""
    return _DIGEST.fullmatch(kept) is not None


def kept_path(path: str) -> str:
    """A path as it is kept: itself, or a digest where a secret stands in it. Some hosts name folders by
    paths, with other signs for `/` and `_`."""
    ways = {path, path.replace("-", "_"), path.replace("-", "/")}
    return hidden(path) if len(path) > _PATH or any(map(_holds_secret, ways)) else path


def told(given: object) -> str:
    """A value that somebody gave, fit to stand in an error."""
    return repr(Fields().line(str(given), 60))


def named(name: str, what: str) -> str:
    """A name that is to be kept as it is, which one that holds a secret cannot be."""
    given = Fields()
    given.text(name)
    if given.kinds:
        raise UsageError(f"{told(name)} cannot be the name of a {what}", hint="it holds a secret")
    return name


def known_source(name: str) -> str:
    if name not in TRUST:
        raise UsageError(f"no source is called {told(name)}", hint=f"known: {', '.join(TRUST)}")
    return name


def moment(given: int | None, what: str) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or abs(given) > _EPOCHS:
        raise UsageError(f"{what} is no time: {told(given)}", hint="milliseconds since 1970, UTC")
    return given


def share(given: float, what: str) -> float:
    plain = isinstance(given, int | float) and not isinstance(given, bool)
    if not plain or not math.isfinite(given) or not 0 <= given <= 1:
        raise UsageError(f"{what} must be from 0 to 1, not {told(given)}")
    return float(given)


def _string(given: object) -> str:
    if not isinstance(given, str):
        raise UsageError(f"a text was expected, not {type(given).__name__}")
    return given
