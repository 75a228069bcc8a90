"""Secrets are taken out of every text before it touches the disk or a log.

What a secret looks like is data (`secrets.toml`), and where it is looked for is told in
`secret_rules.py`. What stands in a secret's place names its kind.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote

from metamem.core.secret_judges import ENDING, entropy
from metamem.core.secret_rules import LONG, Rule, lines, may_stand, near, plain, rules, small

INSTEAD = re.compile(r"\[secret: [a-z ]+\]?")  # what stands in the place of one
# Long enough to hold a secret in another writing.
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_%-"
_LEAST, _MOST = 24, 8000
_RUN = re.compile(rf"(?<![{_SIGNS}])[{_SIGNS}]{{{_LEAST},{_MOST}}}(?![{_SIGNS}])")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds of those that were in it. `found` has the secrets
    themselves, each with its kind: it is never written anywhere, nor shown."""

    text: str
    kinds: tuple[str, ...] = ()
    found: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def redact(text: str) -> Redacted:
    """A text with `[secret: KIND]` in the place of each secret."""
    low = now = text.lower()
    if len(low) != len(text):
        now = ""  # some letters have no small one of equal length: places in `low` say nothing
    hints = plain(text)
    found: list[tuple[str, str]] = []
    there = near(low) if len(low) > LONG else None
    for number, rule in enumerate(rules()):
        words = rule.near if there is None else there.get(number, ())
        for word in words:
            if word in low:  # a plain loop: this is where the time goes
                break
        else:
            continue
        before = len(found)
        # What was put in the place of a secret may have words that were not there before.
        text = _applied(rule, rule.near if found else words, text, now, hints, found)
        if len(found) > before:
            now = small(text)
    text = _in_other_writings(text, found)
    return Redacted(text, tuple(dict.fromkeys(kind for kind, _ in found)), tuple(found))


def _applied(
    rule: Rule,
    words: Sequence[str],
    text: str,
    low: str,
    hints: bool,
    secrets: list[tuple[str, str]],
) -> str:
    """A text without what a rule finds; `low` is the text in small letters, where that can be."""
    if not low:
        return _without(rule, text, secrets)
    if not rule.one_line:
        if hints and not may_stand(rule, words, low):
            return text
        return _without(rule, text, secrets)
    parts, since = [], 0
    for begin, end in lines(rule, words, low, hints):
        parts += [text[since:begin], _without(rule, text[begin:end], secrets)]
        since = end
    return "".join((*parts, text[since:])) if parts else text


def _without(rule: Rule, text: str, secrets: list[tuple[str, str]]) -> str:
    whole = "secret" not in rule.pattern.groupindex

    def instead(found: re.Match[str]) -> str:
        secret = found.group(0 if whole else "secret")
        bare = secret if whole else _bare(found, secret)
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


def _bare(found: re.Match[str], secret: str) -> str:
    """A secret without what only closes its sentence; in quotes, and before a semicolon, `!` is its own."""
    begin, end = found.span("secret")
    before, behind = found.string[begin - 1 : begin], found.string[end : end + 1]
    if before == behind and behind in ('"', "'"):
        return secret
    return secret.rstrip(
        ENDING.translate({ord(sign): None for sign in "!?"}) if behind == ";" else ENDING
    )


# --- secrets in Base64, hexadecimal or %XX -----------------------------------------------------


def _in_other_writings(text: str, found: list[tuple[str, str]]) -> str:
    if len(text) <= LONG:
        return _RUN.sub(lambda run: _decoded(run.group(), found), text)
    parts, since = [], 0
    for begin, end in _runs(text):
        run = text[begin:end]
        instead = _decoded(run, found)
        if instead is not run:
            parts += [text[since:begin], instead]
            since = end
    return "".join((*parts, text[since:])) if parts else text


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """From where to where the runs go that `_RUN` finds, in a tenth of its time."""
    import numpy as np

    others = text.encode("latin-1", "replace").translate(_others())  # a byte for each letter
    at = np.flatnonzero(np.frombuffer(others, np.bool_))
    begins = np.concatenate(([0], at + 1))
    ends = np.concatenate((at, [len(text)]))
    sizes = ends - begins
    for place in np.flatnonzero((sizes >= _LEAST) & (sizes <= _MOST)).tolist():
        yield int(begins[place]), int(ends[place])


@cache
def _others() -> bytes:
    """For each byte whether it is no sign of a run."""
    return bytes(chr(byte) not in _SIGNS for byte in range(256))


# What may be read so: it has a %XX, is hexadecimal, or begins as Base64 of letters of ASCII does, of
# which it has eight signs or fewer. Names in code are nearly never such.
_READABLE = re.compile(
    r"[^%]*%|[0-9A-Fa-f]+$|.{0,7}=|(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589].){2}"
)


def _decoded(run: str, found: list[tuple[str, str]]) -> str:
    """A run of signs as it is, unless it is a secret written in Base64, hexadecimal or %XX."""
    if not _READABLE.match(run):
        return run
    for read in (unquote, bytes.fromhex, _base64):
        try:
            plain = read(run)
        except ValueError:
            continue
        plain = plain if isinstance(plain, str) else plain.decode("ascii", "replace")
        if plain == run or not plain.isascii():
            continue
        low = plain.lower()
        for rule in rules():
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
