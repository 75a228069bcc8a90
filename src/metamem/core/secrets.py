"""Secrets are taken out of every text before it touches the disk or a log.

What a secret looks like is data (`secrets.toml`). A rule is tried only on texts that hold one of
its plain words, and of long texts only on such lines where it never goes past one, so that ordinary
lines cost little. What stands in a secret's place names its kind.
"""

import base64
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from metamem.core.errors import DataError

if TYPE_CHECKING:  # loaded with the first long text: who is in a hurry has none
    import numpy as np
    from numpy.typing import NDArray

INSTEAD = re.compile(r"\[secret: [a-z ]+\]?")  # what stands in the place of one
_HOLDER = re.compile(
    r"""^(?:\$\{?\w|\{\{|%\(|<|\*+$|x{3,}$|\.{3}|…|\[|\{|_+$|your[-_]|my[-_]?(?:secret|token|key|pass)
    |example|changeme|change[-_]me|placeholder|redacted|dummy|todo$|tbd$|none$|null$|nil$|true$|false$
    |undefined$|os\.|env\b|process\.env|getenv|secrets?\.|vault:|ssm:|op://|arn:|https?://|file:|/|\./|~/)""",
    re.IGNORECASE | re.VERBOSE,
)
_CODE = re.compile(r"[()\[\]{}]|^[A-Za-z_]+(?:\.[A-Za-z_]\w*)+$|^[a-z]+(?:_[a-z]+)+$|->|=>|::")
_PLAIN = re.compile(r"[A-Za-z]+(?:[-_'’][A-Za-z]+)*")  # words of prose
_PATH = re.compile(r"[\w.-]*(?:/[\w.-]+)+|[\w-]+(?:\.[a-z]{1,5}){1,3}")
_HASH = re.compile(r"[0-9a-f]{7,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_VERSION = re.compile(r"v?\d+(?:[.:/-]\d+)*[\w.+-]{0,12}")
_COUNTED = re.compile(r"(?i:max|min|num|total|per|count|limit|used|budget|next|page|continuation)")
# Long enough to hold a secret in another writing.
_RUN = re.compile(r"(?<![A-Za-z0-9+/=_%-])[A-Za-z0-9+/=_%-]{24,8000}(?![A-Za-z0-9+/=_%-])")
_LONG = 2000  # letters from which on a text is looked through once for the words of all rules
_HASHES = 1 << 16
_ENDING = ".,;:!?)]}>"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds of those that were in it. `found` has the secrets
    themselves, each with its kind: it is never written anywhere, nor shown."""

    text: str
    kinds: tuple[str, ...] = ()
    found: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape of secrets."""

    kind: str
    near: tuple[str, ...]
    pattern: re.Pattern[str]
    entropy: float
    judge: Callable[[re.Match[str], str], bool]
    word: re.Pattern[str] | None  # any of `near`, where what it finds lies within one line


def redact(text: str) -> Redacted:
    """A text with `[secret: KIND]` in the place of each secret."""
    low = text.lower()
    found: list[tuple[str, str]] = []
    near = _near(low) if len(low) > _LONG else None
    for number, rule in enumerate(_rules()):
        for word in rule.near if near is None else near.get(number, ()):
            if word in low:  # a plain loop: this is where the time goes
                text = (_in_lines if rule.word else _without)(rule, text, found)
                break
    text = _RUN.sub(lambda run: _decoded(run.group(), found), text)
    return Redacted(text, tuple(dict.fromkeys(kind for kind, _ in found)), tuple(found))


def _near(low: str) -> dict[int, list[str]]:
    """The words of rules, by the rule's number, that may stand in a long text: each has its first and
    its last three bytes somewhere in it. To look for every word would take most of the time."""
    import numpy as np

    ends = _ends()
    there = np.zeros(_HASHES, np.bool_)
    there[_hashed(low.encode("utf-8", "replace"))] = True
    found: dict[int, list[str]] = {}
    for place in np.flatnonzero(there[ends.first] & there[ends.last]).tolist():
        found.setdefault(ends.rules[place], []).append(ends.words[place])
    for number, word in ends.short:
        found.setdefault(number, []).append(word)
    return found


def _hashed(content: bytes) -> "NDArray[np.uint16]":
    """A number for every three bytes that follow one another."""
    import numpy as np

    letters = np.frombuffer(content, np.uint8).astype(np.uint16)
    return ((letters[:-2] << 10) ^ (letters[1:-1] << 5) ^ letters[2:]).astype(np.uint16)


@dataclass(frozen=True, slots=True)
class _Ends:
    """All words of all rules, with the numbers of their first and last three bytes."""

    rules: list[int]
    words: list[str]
    first: "NDArray[np.uint16]"
    last: "NDArray[np.uint16]"
    short: list[tuple[int, str]]  # words of fewer than three bytes


@cache
def _ends() -> _Ends:
    import numpy as np

    every = [(number, word) for number, rule in enumerate(_rules()) for word in rule.near]
    long = [(number, word) for number, word in every if len(word.encode()) >= 3]
    numbers = [_hashed(word.encode()) for _, word in long]
    return _Ends(
        [number for number, _ in long],
        [word for _, word in long],
        np.array([each[0] for each in numbers]),
        np.array([each[-1] for each in numbers]),
        [each for each in every if each not in long],
    )


def _decoded(run: str, found: list[tuple[str, str]]) -> str:
    """A run of signs as it is, unless it is a secret written in Base64, hexadecimal or %XX."""
    for read in (unquote, bytes.fromhex, _base64):
        try:
            plain = read(run)
        except ValueError:
            continue
        plain = plain if isinstance(plain, str) else plain.decode("ascii", "replace")
        if plain == run or not plain.isascii():
            continue
        low = plain.lower()
        for rule in _rules():
            within: list[tuple[str, str]] = []
            if any(word in low for word in rule.near) and _without(rule, plain, within) != plain:
                found += [*within, (rule.kind, run)]
                return f"[secret: {rule.kind}]"
    return run


def _base64(run: str) -> bytes:
    plain = run.rstrip("=")
    return base64.b64decode(
        plain + "=" * (-len(plain) % 4), "-_" if {"-", "_"} & {*plain} else "+/", validate=True
    )


def entropy(text: str) -> float:
    """Bits per character, by how often each occurs in the text itself."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def _in_lines(rule: Rule, text: str, secrets: list[tuple[str, str]]) -> str:
    """The same as `_without`, of the lines that hold one of the rule's words: of a file those are few."""
    low = text.lower()
    if rule.word is None or len(low) != len(text):  # some letters have no small one of equal length
        return _without(rule, text, secrets)
    parts, since = [], 0
    for word in rule.word.finditer(low):
        if word.start() >= since:
            begin, end = text.rfind("\n", 0, word.start()) + 1, text.find("\n", word.start())
            end = len(text) if end < 0 else end
            parts += [text[since:begin], _without(rule, text[begin:end], secrets)]
            since = end
    return "".join((*parts, text[since:]))


def _without(rule: Rule, text: str, secrets: list[tuple[str, str]]) -> str:
    whole = "secret" not in rule.pattern.groupindex

    def instead(found: re.Match[str]) -> str:
        secret = found.group(0 if whole else "secret")
        bare = secret if whole else secret.rstrip(_ENDING)
        if not bare or INSTEAD.match(bare) or "[secret" in bare:
            return found.group()
        if rule.entropy and entropy(bare) < rule.entropy:
            return found.group()
        if not rule.judge(found, bare):
            return found.group()
        secrets.append((rule.kind, bare))
        begin = found.start(0 if whole else "secret") - found.start()
        end = begin + len(bare)
        return f"{found.group()[:begin]}[secret: {rule.kind}]{found.group()[end:]}"

    return rule.pattern.sub(instead, text)


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
        and not _PATH.fullmatch(secret)
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
    if _COUNTED.search(found["name"]) or _PATH.fullmatch(secret):
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
        and not _PATH.fullmatch(secret)
        and any(c.isdigit() or not c.isalnum() for c in secret)
        and not secret.isdigit()
    )


def _looks_written(found: re.Match[str], secret: str) -> bool:
    """A piece of a program, not a value: a call, an attribute, another variable, a type."""
    if found["open"]:
        return False
    spaced = found["sign"] != found["sign"].rstrip()
    name = re.split(r"[._-]", found["name"])[-1].lower()
    if secret.lower().rstrip(_ENDING) == name or _CODE.search(secret):
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


_JUDGES: Mapping[str, Callable[[re.Match[str], str], bool]] = {
    "": _always,
    "a value": _a_value,
    "mixed": _mixed,
    "random": _random,
    "password set": _password_set,
    "secret set": _secret_set,
    "password said": _password_said,
    "pass set": _pass_set,
    "card": _card,
}


@cache
def _rules() -> tuple[Rule, ...]:
    read = tomllib.loads(files(__package__).joinpath("secrets.toml").read_text(encoding="utf-8"))
    return tuple(_rule(each) for each in read["rule"])


def _rule(given: Mapping[str, Any]) -> Rule:
    try:
        return Rule(
            given["kind"],
            tuple(given["near"]),
            re.compile(given["pattern"]),
            float(given.get("entropy", 0)),
            _JUDGES[given.get("judge", "")],
            re.compile("|".join(map(re.escape, given["near"]))) if given.get("line") else None,
        )
    except (KeyError, re.error) as error:
        raise DataError(f"a rule of secrets.toml cannot be used: {error}") from error
