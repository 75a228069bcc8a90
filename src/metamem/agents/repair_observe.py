"""What a repairer reads off the world's answers: listings, pages of files, test reports."""

import re
from dataclasses import dataclass, field

_LISTED = re.compile(r"^(\S+\.py) \(\d+ lines\)$", re.MULTILINE)
_TEST_ID = re.compile(r"\b([\w./-]+\.py)::(\w+)")
_HEAD = re.compile(r"^(\S+), lines (\d+)-\d+ of \d+:$")
_NUMBERED = re.compile(r"^ *\d+ (.*)$")
_FRAME = re.compile(r"^\s*([\w./-]+\.py):(\d+): in (\w+)$")
_ERROR = re.compile(r"^\s*E\s+(?:\w+\.)*(\w+)(?::.*)?$")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_MORE = re.compile(r"\(more: read_file \S+ (\d+)\)")


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or path.startswith("tests/")


def listed(text: str) -> list[str]:
    return _LISTED.findall(text)


def page(text: str) -> tuple[str, str] | None:
    """The path and the text of a file that was read from its first line."""
    first, _, rest = text.partition("\n")
    head = _HEAD.match(first)
    if not head or head[2] != "1" or _MORE.search(rest):
        return None
    lines = [found[1] if (found := _NUMBERED.match(line)) else "" for line in rest.split("\n")]
    return head[1], "\n".join(lines) + "\n"


@dataclass(slots=True)
class Report:
    """What failed and where it came through."""

    failed: set[tuple[str, str]] = field(default_factory=set)  # (test file, test)
    places: list[tuple[str, int, str]] = field(
        default_factory=list
    )  # source frames, outermost first
    calls: list[str] = field(default_factory=list)  # what the failing lines of tests call
    errors: list[str] = field(default_factory=list)
    passed: bool = False


def report(text: str) -> Report:
    """A test run's output as facts."""
    result = Report(passed=text.rstrip().endswith("(exit code 0)"))
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("FAILED") and (test := _TEST_ID.search(line)):
            result.failed.add((test[1], test[2]))
        elif frame := _FRAME.match(line):
            path, number, name = frame[1], int(frame[2]), frame[3]
            if not is_test(path):
                result.places.append((path, number, name))
            elif i + 1 < len(lines):
                result.calls += _CALL.findall(lines[i + 1])
        elif error := _ERROR.match(line):
            result.errors.append(error[1])
    return result
