"""The status of HTTP that a failure tells, however it is said.

Where it is called a status there is no doubt. Elsewhere a number counts that is a known code of an error, stands
by itself, and has a sign of HTTP right beside it; never a place, a count, a port, a time, a size or a key.
"""

import re

_NAMED = re.compile(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?(?: (?:error|status|code|response))?|(?:http_)?status(?:[ _]?code)?|returned error"
    r"|response code|http_code|(?<!exit )(?<!with )code)\W{1,3}"
    r"([45]\d\d)\b(?!\.\d)"
    r"|\b([45]\d\d)\b (?:Client|Server) Error"
    r"|\b([45]\d\d)[:, -]{1,3}(?:Bad Request|Unauthorized|Payment Required|Forbidden|(?:Page )?Not Found|Method Not Allowed"
    r"|Conflict|Gone|Unprocessable|Too Many Requests|Internal Server|Not Implemented|Bad Gateway|Service Unavailable"
    r"|Gateway)"
    r"|\bE([45]\d\d)\b",  # npm
    re.IGNORECASE,
)
# Codes that are in use; the other numbers are rather counts.
_USED = "400-418 421-426 428 429 431 451 499 500-508 510 511 520-530"
_KNOWN = frozenset(
    code
    for low, _, high in (part.partition("-") for part in _USED.split())
    for code in range(int(low), int(high or low) + 1)
)
_WELL = frozenset([200, 201, 202, 204, 206, 301, 302, 304, 307, 308])  # what tests wait for instead
_ALONE = re.compile(r"(?<![\w.,:#/+%=$-])([45]\d\d)(?![\w%/-]|[.,:]\d)")
_INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.]*\d)")

# What is counted or measured follows it.
_COUNTED = re.compile(
    r"\s*(?:[mµun]?s|secs?|min|h|[kMGT]i?B|[kmg]b|b)\b|\s*%|\s+of\s+\S*\d|\s+[a-z]{2,}s\b(?![:/])|\s+\w+ [a-z]{2,}s\b(?![: /])"
)
# It ends there, or a reason begins.
_ENDS = re.compile(
    r"\s*(?:$|[)\]>\"'`,;:.!?{(<=|–-])|\s+(?:[A-Z]|\d)|\s+(?:error|response|status|for|from|on|at|in|when|while)\b"
)
_GLUE = r"(?:\s+(?:an?|the|with|of|by|was|is|http|code|status|error|response|from \w+))*\s*:?\s*[\[(<\"'`]?$"
_SAID = re.compile(
    r"\b(?:error|err!|errored|returned|returns|responded|response|replied|answered|received|got|said)"
    + _GLUE,
    re.IGNORECASE,
)
# Classes of errors that are about requests; a number behind a KeyError is a key.
_CLASSED = re.compile(
    r"\w*(?:http|api|request|response|client|server|status|fetch|access|axios|url|web|rest|service|gateway)\w*"
    r"(?:error|exception)" + _GLUE,
    re.IGNORECASE,
)
_FAILED = re.compile(r"\b(?:failed|failure)" + _GLUE, re.IGNORECASE)
_ASKED = re.compile(
    r"request|fetch|download|upload|\burl\b|http|\bapi\b|webhook|endpoint|server|upstream|registry|proxy|gateway",
    re.IGNORECASE,
)
_METHOD = r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+\S*/\S*"
_ADDRESS = re.compile(rf"(?:https?://\S+|{_METHOD})\s*(?:[:,-]|->|=>|→)?\s*$")
_STRONG = re.compile(rf"https?://|{_METHOD}")
_ARROW = re.compile(r"^\s*(?:->|=>|→)\s*$")
_OPENED = re.compile(r"(?:^|[\s:])[\[(]$")
_COUNTS_UP = re.compile(
    r"\b(?:range|index|line|column|port|pid|process|exit\w*|signal|errno|offset|job|step|attempt)\W*$",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\bassert|\bexpect|\bwant|==|!=|\bto (?:be|equal)\b", re.IGNORECASE)
_WRONG = re.compile(r"\berror\b|exception", re.IGNORECASE)
_AFTER = re.compile(r"\s+(?:page not found|(?:error|response)\b)", re.IGNORECASE)


def named_status(text: str) -> int | None:
    """What is called a status, or stands with a reason's own words."""
    found = _NAMED.search(text)
    return int(next(filter(None, found.groups()))) if found else None


def told_status(line: str) -> int | None:
    """The status that the line tells which says what was wrong."""
    if (named := named_status(line)) is not None:
        return named
    for found in _ALONE.finditer(line):
        before, after = line[: found.start()], line[found.end() :]
        if int(found[1]) in _KNOWN and _is_status(line, before, after):
            return int(found[1])
    return None


def _is_status(line: str, before: str, after: str) -> bool:
    if _COUNTED.match(after) or _COUNTS_UP.search(before):
        return False
    if _COMPARED.search(line):
        return _against_well(line)
    if _AFTER.match(after):
        return True
    sure = _ADDRESS.search(before) is not None or _CLASSED.search(before) is not None
    if not _ENDS.match(after) and not (sure or _STRONG.search(line)):
        return False
    return sure or _is_said(line, before, after)


def _is_said(line: str, before: str, after: str) -> bool:
    if _SAID.search(before) or _ARROW.match(before):
        return True
    asked = _ASKED.search(line) is not None
    if _OPENED.search(before) and after[:1] in (")", "]"):
        return asked or not before[:-1].strip() or _WRONG.search(line) is not None
    return asked and _FAILED.search(before) is not None


def _against_well(line: str) -> bool:
    """Whether a test waited for a status, and another came."""
    numbers = [int(text) for text in _INTEGER.findall(line)[:9]]
    return (
        bool(numbers)
        and any(n in _WELL for n in numbers)
        and all(n in _WELL or n in _KNOWN for n in numbers)
    )
