"""hear: the lines of an episode that are kept, each with what it may be found by."""

from metamem.designs import Experience
from metamem.designs.blocks.listener import Listener


class EachLine(Listener):
    """every line that was read"""

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        read = [line for step in experience.steps for line in step.observation.splitlines()]
        return [(line.strip(), line) for line in read if line.strip()]


class WithTheLineBefore(Listener):
    """every line that was read, found by its own words and those of the line before"""

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        found, before = [], ""
        for step in experience.steps:
            for line in step.observation.splitlines():
                if line.strip():
                    found.append((line.strip(), f"{before} {line}"))
                    before = line
        return found


class WhoSaidIt(Listener):
    """every message with its speaker and without its time, or else every line"""

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        if experience.messages:
            said = [f"{m.speaker}: {m.text}" for m in experience.messages]
            return [(line, line) for line in said]
        read = [line for step in experience.steps for line in step.observation.splitlines()]
        return [(line.strip(), line) for line in read if line.strip()]


class AnswersWithQuestions(Listener):
    """every message; one after a question is found by the words of the question, too"""

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        said = [(m.speaker, m.text, m.time) for m in experience.messages]
        if not said:
            said = [("", step.observation, "") for step in experience.steps]
        found, asked = [], ""
        for speaker, line, time in said:
            told = f"{speaker}: {line}" if speaker else line
            found.append((f"{time}, {told}" if time else told, f"{asked} {told}"))
            asked = line if line.rstrip().endswith("?") else ""
        return found


class LastWords(Listener):
    """what was read last in an episode, found by its goal and its own words"""

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        if not experience.steps:
            return []
        last = " ".join(experience.steps[-1].observation.split())
        return [(last, f"{experience.goal} {last}")]


class LastWordsUnderTheGoal(Listener):
    """what was read last in an episode, found by its goal alone"""

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        if not experience.steps:
            return []
        last = " ".join(experience.steps[-1].observation.split())
        return [(last, experience.goal)]
