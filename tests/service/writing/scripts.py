"""Models for tests of enrichment: functions that answer a question about numbered lines."""

import json
import os
import signal
from pathlib import Path

from metamem.core.chat import Question

DIES_AT = "METAMEM_TEST_DIES_AT"  # a file whose count of answers says when the process is killed


def moves(question: Question) -> str:
    """Finds lines that speak of moving, and draws one fact from each."""
    facts = []
    for line in question.turns[-1].text.splitlines():
        number, _, said = line.partition(". ")
        if "moved" in said:
            facts.append({"text": said, "type": "observation", "lines": [int(number)]})
    return json.dumps({"facts": facts})


def dying(question: Question) -> str:
    """As `moves`, in a process that is killed while it waits for some answer."""
    counter = Path(os.environ[DIES_AT])
    left = int(counter.read_text()) - 1
    counter.write_text(str(left))
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return moves(question)
