"""The same failure is the same whichever host tells of it, and whether a hook or a transcript does."""

from pathlib import Path

import pytest

from metamem.foundry.failures.advising import _use
from metamem.foundry.failures.frames import unframed
from metamem.foundry.failures.signature import Signature, signature
from metamem.foundry.words import Use
from metamem.service.attach.events import ToolEnded
from metamem.service.attach.hooked import heard
from metamem.service.importing.sources import HOSTS, Source, look
from tests.foundry.living import Agents, Run
from tests.service.attach.tool_events import FAILED, sent

RUNS: list[Run] = [
    ("pytest -q", "sh: pytest: command not found", 127),
    ("git push", "fatal: The current branch main has no upstream branch.", 128),
    (
        "git push",
        "To x\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs",
        1,
    ),
    ("make all", "", 2),
]


def of_transcripts(agents: Agents, host: str) -> list[Signature]:
    path = agents.write(host, "s1", RUNS)
    source = Source(host, path) if path else Source(host, agents.opencode.file, "s1")
    return [
        signature(Use(c.id, c.tool, c.arguments, c.result or "", c.error, True, c.exit_code))
        for c in look(source, None).transcript.calls
    ]


def test_in_all_hosts_alike(tmp_path: Path) -> None:
    agents = Agents(tmp_path)
    agents.begin()
    first, *others = [of_transcripts(agents, host) for host in HOSTS]
    assert len({found.id for found in first}) == len(RUNS)
    assert all(other == first for other in others)
    assert {found.status for found in first} == {None}  # an exit code is no status


@pytest.mark.parametrize("host", ["claude-code", "gemini"])
def test_by_a_hook_and_by_a_transcript_alike(tmp_path: Path, host: str) -> None:
    import json

    agents = Agents(tmp_path)
    agents.begin()
    for run, kept in zip(RUNS, of_transcripts(agents, host), strict=True):
        command, said, code = run
        data = sent(host, FAILED, "s1", agents.project, None, arguments={"command": command}, said=said, code=code)  # fmt: skip
        event = heard(host, "after", json.dumps(data).encode()).event
        assert isinstance(event, ToolEnded)
        assert signature(_use(event)) == kept


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("Exit code 1\nOops", "Oops"),
        ("Exit code 127", ""),
        ("Chunk ID: a1\nWall time: 0.2 seconds\nProcess exited with code 1\nOriginal token count: 5\nOutput:\nOops", "Oops"),
        ("Process exited with code 2\nOutput:\n", ""),
        ("Output: Oops\nExit Code: 1\nProcess Group PGID: 55", "Oops"),
        ("Oops\nsaid: Exit code 1\nmore", "Oops\nsaid: Exit code 1\nmore"),
        ("", ""),
    ],
)  # fmt: skip
def test_frames_are_taken_off_and_nothing_else(text: str, inside: str) -> None:
    assert unframed(text) == inside
