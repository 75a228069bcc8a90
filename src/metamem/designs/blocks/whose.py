"""whose: the sorts of episode that something is learned from, the narrowest first."""

from metamem.designs import text
from metamem.designs.blocks.thinker import Thinker


class Everyone(Thinker):
    """all episodes"""

    def whose(self, goal: str, observation: str) -> list[str]:
        return ["all"]


class SameManner(Thinker):
    """episodes whose goals differ only in the things they name, then all"""

    def whose(self, goal: str, observation: str) -> list[str]:
        known = self.things()
        manner = [word for word in text.words(goal) if word not in known]
        return [" ".join(manner), "all"]


class SameLook(Thinker):
    """episodes that began before the same sight, then all"""

    def whose(self, goal: str, observation: str) -> list[str]:
        return [text.kinds(observation), "all"]


class SameFirstLine(Thinker):
    """episodes that began at a sight with the same first line, then all"""

    def whose(self, goal: str, observation: str) -> list[str]:
        lines = [line for line in observation.splitlines() if line.strip()]
        return [text.kinds(lines[0]) if lines else "", "all"]


class SameWords(Thinker):
    """episodes whose goals have the same longest word, then all"""

    def whose(self, goal: str, observation: str) -> list[str]:
        words = sorted(text.content_words(goal), key=lambda word: (-len(word), word))
        return [*words[:1], "all"]
