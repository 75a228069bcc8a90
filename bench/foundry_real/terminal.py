"""Recorded terminals of a shell agent (mini-swe-agent in Terminal-Bench) as traces.

A log holds what the terminal was sent: status lines that overwrite themselves, colours, and texts broken at
160 columns. An answer of the agent holds one command in a fence; what came back holds a return code and the
output, or says that the command was killed. Whether the task's own tests passed stands beside the log.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from metamem.foundry.words import Outcome, Trace, Use

SCOPE = "real/project/terminal-bench"
WIDTH = 160  # columns of the recorded terminals
SURE = 0.95  # hidden tests of the task say how it ended

_BREAK = re.compile(r"\r*\n")  # a full-screen program may have left the terminal raw
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ANSWER = re.compile(r"\x1b\[1;31mmini-swe-agent\x1b\[0m\x1b\[31m \(step ")
_BACK = "\x1b[1;32mUser\x1b[0m:"
_RULE = re.compile(r"^─{40,}$")
_WAITING = re.compile(r"^\S? ?Waiting for the LM to respond\.\.\.\s*$")
_NOISE_BEGINS = re.compile(r"^\d\d:\d\d:\d\d - LiteLLM:ERROR: ")
_NOISE_ENDS = re.compile(r"^\w+Error: Missing dependency ")
_FENCE = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^<returncode>(-?\d+)</returncode>$", re.MULTILINE)
_OUTPUT = re.compile(
    r"^ ?<(?P<tag>output|output_head)>\n(?P<text>.*?)(?:^</(?P=tag)>|\Z)", re.DOTALL | re.MULTILINE
)
_TAIL = re.compile(r"^<output_tail>\n(.*?)(?:^</output_tail>|\Z)", re.DOTALL | re.MULTILINE)
_KILLED = re.compile(r"^The last command <command>.*?</command> timed out", re.DOTALL)
_DONE = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass(frozen=True, slots=True)
class Turn:
    """One command and what came back."""

    command: str
    output: str
    code: int | None  # None where it was killed

    @property
    def killed(self) -> bool:
        return self.code is None


def read_traces(folder: Path) -> list[Trace]:
    """All sessions with commands under a folder, in the order of their paths."""
    found = []
    for log in sorted(folder.rglob("sessions/agent.log")):
        turns = read_log(log.read_bytes().decode(errors="replace"))
        if turns:
            found.append(_trace(log.parent.parent, turns))
    return found


def read_log(text: str) -> list[Turn]:
    """The commands of a recorded terminal, in their order."""
    found = []
    for answer, back in _exchanges(text):
        commands = _FENCE.findall(answer)
        if len(commands) == 1 and _DONE not in commands[0]:
            turn = _turn(commands[0].rstrip("\n"), back)
            found += [turn] if turn is not None else []
    return found


def unwrapped(lines: Sequence[str], width: int = WIDTH) -> str:
    """Lines of a terminal with the breaks taken out that its width put in."""
    text = ""
    for at, line in enumerate(lines):
        after = lines[at + 1] if at + 1 < len(lines) else None
        text += line + ("\n" if after is None else _joint(line, after, width))
    return text


def _joint(line: str, after: str, width: int) -> str:
    """What stood between two lines: a line break, or what the terminal made one of."""
    word = re.match(r"\S*", after)
    first = word[0] if word is not None else ""
    if len(line) > width or not first or len(line) + len(first) <= width:
        return "\n"
    if line.endswith(" "):
        return ""
    if len(line) < width:
        return "\n"
    last = line.rsplit(" ", 1)[-1]
    return "" if len(last) + len(first) > width else " "


def _exchanges(text: str) -> Iterator[tuple[str, str]]:
    """What the agent answered, and what came back."""
    answer: list[str] | None = None
    back: list[str] | None = None
    for line in _lines(text):
        if _ANSWER.search(line):
            if answer is not None and back is not None:
                yield unwrapped(answer), unwrapped(back)
            answer, back = [], None
        elif answer is not None and back is None and line.endswith(_BACK):
            back = []
        elif answer is not None:
            plain = _COLOUR.sub("", line)
            if back is not None and _RULE.match(plain):
                yield unwrapped(answer), unwrapped(back)
                answer = back = None
            elif not _WAITING.match(plain):
                (answer if back is None else back).append(plain)
    if answer is not None and back is not None:
        yield unwrapped(answer), unwrapped(back)


def _lines(text: str) -> Iterator[str]:
    """What is left of each line on the screen, without what another program says between."""
    noise = False
    for line in _BREAK.split(text):
        left = line.rsplit("\x1b[2K", 1)[-1].lstrip("\r")
        if _NOISE_BEGINS.match(_COLOUR.sub("", left)):
            noise = True
        if not noise:
            yield left
        elif _NOISE_ENDS.match(left):
            noise = False


def _turn(command: str, back: str) -> Turn | None:
    """None where what came back is no outcome of a command."""
    code = _CODE.search(back)
    killed = _KILLED.match(back.lstrip())
    if code is None and killed is None:
        return None
    output = _OUTPUT.search(back, code.end() if code else killed.end() if killed else 0)
    tail = _TAIL.search(back)
    text = (output["text"] if output else "") + (tail[1] if tail else "")
    return Turn(command, text.strip("\n"), int(code[1]) if code else None)


def _trace(folder: Path, turns: Sequence[Turn]) -> Trace:
    told = folder / "results.json"
    about = json.loads(told.read_text()) if told.is_file() else {}
    ended = Outcome("tests", bool(about["is_resolved"]), SURE) if about else Outcome()
    uses = tuple(
        Use(
            f"u{number}",
            "bash",
            {"command": turn.command},
            turn.output,
            "timed out and was killed\n" + turn.output if turn.killed else "",
            failed=turn.killed or turn.code != 0,
            exit_code=turn.code,
            prompt="p0",
        )
        for number, turn in enumerate(turns)
    )
    return Trace(
        SCOPE,
        "mini-swe-agent",
        folder.name,
        uses,
        {"p0": str(about.get("instruction", ""))},
        ended,
    )
