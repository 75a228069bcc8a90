"""What differs from one run to the next is taken out of an error's words.

Numbers, addresses, times, hashes, temporary names, homes and places in files go; names of modules, symbols,
options, files and hosts stay, since they are what an error is about.
"""

import re
from collections.abc import Callable

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_POINTER = re.compile(r"\b0x[0-9a-fA-F]+\b")
# At least one digit and one letter: a word such as "defaced" is none.
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
)
_URL = re.compile(r"\b([a-z][a-z0-9+.-]{1,10})://([^\s'\"<>)\]]+)", re.IGNORECASE)
_IP = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])|\[[0-9a-f:]*::[0-9a-f:]*\](?::\d+)?"
)
_PORT = re.compile(r"\b(localhost|[\w-]+(?:\.[\w-]+)+):\d{2,5}(?![\w.])")
_PATH = re.compile(r"(?<![\w.~$/\\-])(?:~|[A-Za-z]:)?(?:[/\\][\w.@+%=~$-]+)+[/\\]?")
_TEMPORARY = re.compile(
    r"^(?:/private)?/(?:tmp|var/tmp|dev/shm|var/folders/[^/]+/[^/]+(?:/T)?)(?=/|$)"
    r"|^(?:[A-Za-z]:)?/Users/[^/]+/AppData/Local/Temp(?=/|$)"
)
_HOME = re.compile(r"^(?:[A-Za-z]:)?/(?:home|Users)/[^/]+(?=/|$)|^/root(?=/|$)|^~(?=/|$)")
_RANDOM = re.compile(r"\b(?:tmp|temp)[._-]?(?=\w*[\d_]|\w{6,8}\b)\w{4,}\b")
_PLACE = re.compile(
    r"(?<=[\w>)'\"]):\d+(?::\d+)?\b|\(\d+(?:,\s*\d+)?\)|\bline \d+(?:, column \d+)?"
)
_COUNTER = re.compile(r"(?<![A-Za-z])([a-z][A-Za-z]*(?:[_-][A-Za-z]+)*[_-]?)\d{3,}\b")
_NUMBER = re.compile(r"(?<![\w.#-])[-+]?\d[\d.,:_]*(?:(?:e[+-]?\d+)|[a-zA-Z]{1,3}\b|%)?(?!\w)")
_SPACES = re.compile(r"\s+")


def masked(text: str) -> str:
    """A text on one line without what does not matter."""
    text = _ANSI.sub("", text)
    text = _URL.sub(_address, text)
    for form, instead in _STEPS:
        text = form.sub(instead, text)
    return _SPACES.sub(" ", text).strip()


def _address(found: re.Match[str]) -> str:
    """Host and path; ports, users and questions are of one run."""
    scheme, rest = found[1].lower(), found[2]
    host, _, path = rest.split("?", 1)[0].split("#", 1)[0].partition("/")
    host = host.rsplit("@", 1)[-1]
    host = re.sub(r":\d+$", "", host)
    parts = ["<id>" if any(c.isdigit() for c in part) and not _VERSION.fullmatch(part) else part
             for part in path.rstrip(".,:;").split("/") if part]  # fmt: skip
    # Without its colon and slashes, so that what looks for paths leaves it alone.
    return f"{scheme}:{'/'.join([host, *parts])}"


_VERSION = re.compile(r"v\d{1,2}")


def _path(found: re.Match[str]) -> str:
    path = found[0].replace("\\", "/")
    end = path.rstrip("/")
    if temporary := _TEMPORARY.match(end):
        inside = [part for part in end[temporary.end() :].split("/") if part]
        if len(inside) < 2:  # the name itself is the temporary one
            ending = re.search(r"\.[A-Za-z]{1,5}$", inside[0]) if inside else None
            return "<tmp>" + (f"/*{ending[0]}" if ending else "")
        return f"<tmp>/{inside[-1]}"
    if home := _HOME.match(end):
        return "<home>" + end[home.end() :]
    return end or path


_Instead = str | Callable[[re.Match[str]], str]
_STEPS: tuple[tuple[re.Pattern[str], _Instead], ...] = (
    (_TIME, "<time>"),
    (_UUID, "<id>"),
    (_POINTER, "<address>"),
    (_IP, "<address>"),
    (_PATH, _path),
    (_PORT, r"\1"),
    (_RANDOM, "<tmp>"),
    (_HASH, "<id>"),
    (_PLACE, ""),
    (_COUNTER, r"\1#"),
    (_NUMBER, "#"),
)
