"""A session as experiences: as messages, and as steps for designs that know only steps.

A batch of a few messages is one experience. Its goal is what was said, so that designs which look
for similar goals find it; each message is a step whose action is the text and whose observation is
the line as a person would note it down, with day and speaker. The reward is 1, since nothing
failed: designs that keep only what went well would otherwise keep nothing.
"""

from collections.abc import Iterator

from metamem.core.types import Experience, Message, Step
from metamem.domains.dialogue.conversation import Line, Session


def experiences(session: Session, batch: int) -> Iterator[Experience]:
    """The session in batches of so many messages, in order."""
    for start in range(0, len(session.lines), batch):
        lines = session.lines[start : start + batch]
        yield Experience(
            goal="\n".join(f"{line.speaker}: {line.text}" for line in lines),
            observation=session.date,
            steps=tuple(Step(line.text, noted(line, session.date)) for line in lines),
            reward=1.0,
            messages=tuple(Message(line.speaker, line.text, session.date) for line in lines),
        )


def noted(line: Line, day: str) -> str:
    return f"{day}, {line.speaker}: {line.text}"
