"""What shape alone cannot tell of a secret: whether it is one, or a name, a path, a word, a number."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

from metamem.core.stopwords import STOP

_HOLDER = re.compile(
    r"""^(?:\$\{?\w|\{\{|%\(|<|\*+$|x{3,}$|\.{3}|…|\[|\{|_+$|your[-_]|my[-_]?(?:secret|token|key|pass)
    |example|change[-_]?me(?![\w-]*\d)|placeholder|redacted|dummy|todo$|tbd$|none$|null$|nil$|true$|false$
    |undefined$|os\.|env\b|process\.env|getenv|secrets?\.|vault:|ssm:|op://|arn:|https?://|file:|/|\./|~/)""",
    re.IGNORECASE | re.VERBOSE,
)
_CODE = re.compile(r"[()\[\]{}]|^[A-Za-z_]+(?:\.[A-Za-z_]\w*)+$|^[a-z]+(?:_[a-z]+)+$|->|=>|::")
_PLAIN = re.compile(r"[^\W\d_]+(?:[-_'’][^\W\d_]+)*")  # words of prose
_STEPS = re.compile(r"[\w.-]*(?:/[\w.-]+)+")
_FILE = re.compile(r"[\w-]+(?:\.[a-z]{1,5}){1,3}")
_MEANT = re.compile(r"\.{0,2}/|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,10}/|.*\.[a-z][a-z0-9]{0,4}$")
# A step of a path as people name folders: words and numbers, or a digest.
_WORD = r"(?:[a-z]+(?:\d{1,4}[a-z]*)?|(?=[a-z]*[A-Z])[A-Za-z]+\d{0,4}|\d{1,8})"
_STEP = re.compile(
    rf"\.{{0,2}}|[._-]*{_WORD}(?:[._-]+{_WORD})*(?:[._-][0-9a-f]{{6,64}})?[._-]*"
    r"|[0-9a-f]{2}|[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_HASH = re.compile(r"[0-9a-f]{7,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_VERSION = re.compile(r"v?\d+(?:[.:/-]\d+)*[\w.+-]{0,12}")
_COUNTED = re.compile(r"(?i:max|min|num|total|per|count|limit|used|budget|next|page|continuation)")
# What is said of a passphrase, and is none.
_SAYING = """
    access any asked asks at authentication cached cert certificate changed character characters
    clear default defaults derived disabled eight empty enabled encrypted encryption enter
    entered expired failed file flag forgotten four given hidden incorrect input invalid key
    keychain keyring keys least length letters long longer mandatory match max maximum min
    minimum mismatch missing mnemonic mode must need needed needs new none old option optional
    pass passphrase password phrase please private prompt prompted protected protection protects
    provided random read recommended repeat required requires rotated same secret see seed set
    setting short shown six source ssh stored string strong ten text twelve two type typed
    unknown unlock unlocks unset unused use used user uses valid value variable weak word words
    wrong your
"""
_TELLING = frozenset(_SAYING.split())
ENDING = ".,;:!?)]}>"  # what closes a sentence or a bracket is no part of what stands in it
Judge = Callable[[re.Match[str], str], bool]


def entropy(text: str) -> float:
    """Bits per character, by how often each occurs in the text itself."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def _always(found: re.Match[str], secret: str) -> bool:
    return True


def _a_value(found: re.Match[str], secret: str) -> bool:
    """Not a name that stands for one."""
    return not _HOLDER.match(secret)


def _mixed(found: re.Match[str], secret: str) -> bool:
    """Letters and digits, as prose has not."""
    return (
        _a_value(found, secret)
        and any(c.isdigit() for c in secret)
        and any(c.isalpha() for c in secret)
        and not _is_path(secret)
        and not _VERSION.fullmatch(secret)
    )


def _random(found: re.Match[str], secret: str) -> bool:
    """Drawn by lot, as far as can be seen; a commit or a UUID that is only spoken of is not meant."""
    return (
        _mixed(found, secret)
        and not _HASH.fullmatch(secret)
        and not _CODE.search(secret)
        and max(len(piece) for piece in re.split(r"[-_./+=~]", secret)) >= 12
    )


def _password_set(found: re.Match[str], secret: str) -> bool:
    if not _a_value(found, secret) or _looks_written(found, secret):
        return False
    if found["open"] or "=" in found["sign"]:
        return True
    return not _PLAIN.fullmatch(secret) or _is_setting(found["name"])


def _pass_set(found: re.Match[str], secret: str) -> bool:
    """Tests pass, too: what is set must look like a password, or the name like a setting."""
    if _is_setting(found["name"]) and "=" in found["sign"]:
        return _password_set(found, secret)
    return _password_set(found, secret) and _password_said(found, secret)


def _secret_set(found: re.Match[str], secret: str) -> bool:
    if not _a_value(found, secret) or _looks_written(found, secret) or secret.isdigit():
        return False
    if _COUNTED.search(found["name"]) or _is_path(secret):
        return False
    if _is_setting(found["name"]) and "=" in found["sign"]:
        return True
    return _mixed(found, secret) and entropy(secret) >= 2.5


def _password_said(found: re.Match[str], secret: str) -> bool:
    """In a sentence most of what follows is only another word."""
    return (
        _a_value(found, secret)
        and not _PLAIN.fullmatch(secret)
        and not _CODE.search(secret)
        and not _is_path(secret)
        and any(c.isdigit() or not c.isalnum() for c in secret)
        and not secret.isdigit()
    )


def _password_named(found: re.Match[str], secret: str) -> bool:
    """What is set where the name is a word of prose, too."""
    if not _a_value(found, secret) or _looks_written(found, secret) or _is_path(secret):
        return False
    if found["open"] or found["sign"] == "=":
        return True
    return not _PLAIN.fullmatch(secret)


def _drawn_words(found: re.Match[str], secret: str) -> bool:
    """Words that make no sentence: none of those that bind others, or that tell what is wanted."""
    words = re.split(r"[ \t-]+", secret)
    return not STOP.intersection(words) and not _TELLING.intersection(words)


def _is_path(text: str) -> bool:
    """A file or a folder. Secrets in Base64 have slashes, too, but no words between them."""
    if _FILE.fullmatch(text):
        return True
    if not _STEPS.fullmatch(text):
        return False
    return bool(_MEANT.match(text)) or all(_STEP.fullmatch(step) for step in text.split("/"))


def _looks_written(found: re.Match[str], secret: str) -> bool:
    """A piece of a program, not a value: a call, an attribute, another variable, a type."""
    if found["open"]:
        return False
    spaced = found["sign"] != found["sign"].rstrip()
    name = re.split(r"[._-]", found["name"])[-1].lower()
    if secret.lower().rstrip(ENDING) == name or _CODE.search(secret):
        return not _is_setting(found["name"]) or bool(re.search(r"[()\[\]{}]", secret))
    return spaced and "=" in found["sign"] and secret.isidentifier() and secret.islower()


def _is_setting(name: str) -> bool:
    """Written as variables of the environment are."""
    return name.isupper()


def _card(found: re.Match[str], secret: str) -> bool:
    """By its length and its check digit."""
    digits = [int(sign) for sign in reversed(secret) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return 13 <= len(digits) <= 19 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


JUDGES: Mapping[str, Judge] = {
    "": _always,
    "a value": _a_value,
    "mixed": _mixed,
    "random": _random,
    "password set": _password_set,
    "secret set": _secret_set,
    "password said": _password_said,
    "password named": _password_named,
    "drawn words": _drawn_words,
    "pass set": _pass_set,
    "card": _card,
}
