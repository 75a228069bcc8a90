"""What was said or seen before, line by line, found again by rare words.

Stores: every message; where there are none, every step as its action and what came back.
Retrieves: the lines that share the rarest words with the goal, best first.
Forgets: nothing.
"""

from metamem.designs import Experience, Memory, Query, Tools, text


class LineSearch(Memory):
    """Remembers every line and tells those that share rare words with the goal."""

    NEAREST = 8

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.lines = tools.text_index("lines")

    async def retrieve(self, query: Query) -> str:
        asked = " ".join(text.content_words(query.goal))
        return "\n".join(hit.payload for hit in self.lines.search(asked, k=self.NEAREST))

    async def update(self, experience: Experience) -> None:
        for message in experience.messages:
            said = f"{message.speaker}: {message.text}"
            self._keep(said, f"{message.time}, {said}" if message.time else said)
        if not experience.messages:
            for step in experience.steps:
                self._keep(line := f"{step.action}: {step.observation}", line)

    def _keep(self, words: str, line: str) -> None:
        self.lines.add(" ".join(text.content_words(words)), line)
