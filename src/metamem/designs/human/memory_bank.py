"""Five documents about the work that a model keeps up to date, all read before each task.

The memory bank that users of coding agents keep by hand (project brief, system patterns, tech
context, active context, progress), here kept by the model. A baseline of the coding adaptation
of ALMA; there is no paper.

Stores: five documents. After each task the model rewrites those that the task changes; one that
it does not rewrite stays. Episodes that have not been worked in yet wait, and are read together
with the next one.
Retrieves: all five under their names, always in the same order, those that change least first.
Without a model they stay empty: nothing is told.
Forgets: what the model leaves out when it rewrites a document; what goes beyond 3,000 characters
of a document, by whole lines; the oldest of the episodes that wait, when more than five do. What
the model reads of an episode is cut to 1,500 characters for each observation and 16,000 in all,
the middle first.

Each document is taken on its own merits: one that is missing in the reply, empty, goes round in
circles or lost over four fifths of its words leaves the old one as it was, whatever the others do.
The adaptation keeps each in a layer of its own; here one call serves all five.
"""

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True

DOCUMENTS = {
    "project_brief": "what the work is about and what it is for: goals, scope, what must hold",
    "system_patterns": "how things are built and hang together: layout, patterns, decisions",
    "tech_context": "what the agent works with: tools, commands, versions, limits, how to check",
    "active_context": "what is being worked on now, what was just learned, what to mind next",
    "progress": "what works, what was tried and failed, what is left to do, known problems",
}
CURATOR = """You keep the memory bank of an agent: five documents that it reads before every task.

{documents}

After each task you are given the documents and what the agent did. Rewrite every document that \
this changes, in full, between tags of its name, such as <progress> and </progress>. Leave out the \
documents that stay as they are.

Write what helps with later tasks, in short lines, the most useful first. In a document that you \
rewrite, keep every older line that is still right: what you do not write down is lost. At most \
about {characters} characters for each document."""
TASK = """The documents so far:

{documents}

What the agent did since:

{stories}

Write the documents that change."""


class MemoryBank(Memory):
    """Remembers five curated documents about the work and tells them all."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    CHARACTERS = 3_000  # of one document at most
    COLLAPSE = 0.2  # a new document with a smaller share of the old one's words is not believed
    WAITING = 5  # episodes that are read together at most
    EACH, ALL = 1_500, 16_000  # characters of an observation, and of an episode, in a prompt

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.documents = dict.fromkeys(DOCUMENTS, "")
        self.waiting: list[str] = []

    async def retrieve(self, query: Query) -> str:
        return "\n\n".join(
            f"# {name.replace('_', ' ').capitalize()}\n{content}"
            for name, content in self.documents.items()
            if content
        )

    async def update(self, experience: Experience) -> None:
        story = text.transcript(experience, self.EACH, self.ALL)
        if not story:
            return
        self.waiting = [*self.waiting, story][-self.WAITING :]
        named = text.bullets(f"{name}: {content}" for name, content in DOCUMENTS.items())
        system = CURATOR.format(documents=named, characters=self.CHARACTERS)
        reply = await text.ask(self.tools, self._prompt(), system=system)
        changed = self._changed(reply) if isinstance(reply, str) else {}
        if changed:
            self.documents.update(changed)
            self.waiting = []
        else:
            self.tools.log("the documents stay as they were: there was no usable new one")

    def _prompt(self) -> str:
        documents = "\n\n".join(
            f"<old_{name}>\n{content or '(empty)'}\n</old_{name}>"
            for name, content in self.documents.items()
        )
        return TASK.format(documents=documents, stories="\n\n".join(self.waiting))

    def _changed(self, reply: str) -> dict[str, str]:
        """The documents of a reply that may take the place of the old ones."""
        found = {}
        for name, old in self.documents.items():
            new = text.revised(old, text.tagged(reply, name), self.CHARACTERS, self.COLLAPSE)
            if new:
                found[name] = new
        return found
