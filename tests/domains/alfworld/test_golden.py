"""What the official engine said, step by step, in games of our own (bench/alfworld_parity.py)."""

import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

from metamem.domains.alfworld.engine import NOTHING, AlfworldWorld
from metamem.domains.alfworld.game import parse_game

FIXTURE = Path(__file__).parent / "golden" / "transcripts.json.xz"


@pytest.fixture(scope="module")
def transcripts():
    return json.loads(lzma.decompress(FIXTURE.read_bytes()))


def test_every_recorded_step_is_the_same(transcripts):
    for number, entry in enumerate(transcripts):
        world = AlfworldWorld(parse_game(entry["game"]))
        for episode in entry["episodes"]:
            for position, (command, text, actions, score, done) in enumerate(episode):
                seen = world.step(command) if position else world.reset()
                ours = (seen.text, list(seen.actions), seen.reward, seen.done)
                assert ours == (text, actions, score, done), (number, position, command)


def test_the_records_cover_what_matters(transcripts):
    rows = [row for entry in transcripts for episode in entry["episodes"] for row in episode]
    verbs = Counter(row[0].split(" ")[0] for row in rows if row[0] and row[1] != NOTHING)
    assert len(transcripts) >= 20
    assert len(rows) > 1200
    everyday = "go open close take move examine look inventory help use"
    assert set(f"{everyday} clean heat cool slice".split()) <= set(verbs)
    assert sum(row[1] == NOTHING for row in rows) > 50
    assert sum(row[4] for row in rows) >= len(transcripts)
    assert any("Next to it, you see a " in row[1] for row in rows)
