"""The most similar past episodes and the code patterns that a model found in them.

Retrieval over trajectories and code patterns, as people add it to coding agents: two indexes of
embeddings that are searched with the task. A baseline of the coding adaptation of ALMA; there is
no paper.

Stores: every episode under its goal and first observation, shortened to 3,000 characters, the
newest of several with the same beginning; and the patterns that the model draws from it: the
problem, what to do, and an example of a few lines. An episode of which it gave no answer waits,
and is tried again after a later one has worked.
Retrieves: the two nearest episodes and the three nearest patterns by cosine, if nearer than a
floor. Without a model there are no patterns, and the episodes alone are told.
Forgets: an earlier episode with the same beginning; patterns never, but the same problem again
takes the newer pattern. An episode that waits is let go after a second fruitless try, or when too
many wait. What the model reads of an episode is cut to 1,500 characters for each observation and
16,000 in all, the middle first.

The adaptation keeps both kinds in Chroma, where what is added without a name is shared by all
memories of a process; here every memory has indexes of its own.
"""

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True

READER = """You collect patterns from the work of an agent, so that it can use them again. You are \
given what it did and the reward it got. Name at most {most} patterns that would help with other \
tasks: what kind of problem showed, what solves it (or, where the agent failed, what to do \
instead), and an example of a few lines as they would be written, such as code, a command or an \
action. Name none if there is nothing that could be used again."""
SCHEMA = {
    "type": "object",
    "properties": {
        "patterns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "problem": {"type": "string"},
                    "solution": {"type": "string"},
                    "example": {"type": "string"},
                },
                "required": ["problem", "solution", "example"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["patterns"],
    "additionalProperties": False,
}


class CodeRag(Memory):
    """Remembers episodes and patterns and tells those nearest to the task."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    EPISODES, NEAREST_PATTERNS = 2, 3  # told at most
    FLOOR = 0.3  # cosine below which nothing is similar enough
    PATTERNS = 3  # drawn from one episode at most
    TOLD = 3_000  # characters of an episode that are kept and told
    PATTERN = 1_000  # characters of each part of a pattern at most
    WAITING = 10  # episodes without an answer that are kept for another try
    EACH, ALL = 1_500, 16_000  # characters of an observation, and of an episode, in a prompt

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.beginnings = tools.vectors("beginnings")
        self.problems = tools.vectors("problems")
        self.episodes: dict[str, str] = {}  # beginning: what happened
        self.patterns: dict[str, str] = {}  # problem: solution and example
        self.waiting: list[str] = []

    async def retrieve(self, query: Query) -> str:
        task = f"{query.goal}\n{query.observation}"
        alike = await self.beginnings.search(task, k=self.EPISODES, floor=self.FLOOR)
        apt = await self.problems.search(query.goal, k=self.NEAREST_PATTERNS, floor=self.FLOOR)
        told = [f"A similar task before:\n{self.episodes[hit.payload]}" for hit in alike]
        if apt:
            patterns = text.bullets(f"{hit.text}: {self.patterns[hit.text]}" for hit in apt)
            told.insert(0, f"Patterns that may help:\n{patterns}")
        return "\n\n".join(told)

    async def update(self, experience: Experience) -> None:
        story = text.transcript(experience, self.EACH, self.ALL)
        if not story:
            return
        beginning = f"{experience.goal}\n{experience.observation}"
        if beginning not in self.episodes:
            await self.beginnings.add(beginning, beginning)
        self.episodes[beginning] = text.transcript(experience, self.EACH // 5, self.TOLD)
        if not await self._draw(story):
            self.waiting = [*self.waiting, story][-self.WAITING :]
        elif self.waiting and not await self._draw(self.waiting.pop(0)):
            self.tools.log("the model gave no answer to an episode twice: it is let go")

    async def _draw(self, story: str) -> bool:
        """Draw patterns from an episode; whether there was an answer, even that there are none."""
        system = READER.format(most=self.PATTERNS)
        reply = await text.ask(self.tools, story, SCHEMA, system=system)
        if not isinstance(reply, dict) or not isinstance(reply.get("patterns"), list):
            return False
        for found in reply["patterns"][: self.PATTERNS]:
            problem, solution, example = (
                text.shorten(found[part].strip(), self.PATTERN)
                for part in ("problem", "solution", "example")
            )
            if not problem or not solution:
                continue
            if problem not in self.patterns:
                await self.problems.add(problem)
            self.patterns[problem] = f"{solution}\n{example}".strip()
        return True
