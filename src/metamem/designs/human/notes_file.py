"""A notes file that a model keeps up to date after every task, read before each.

What people who work with coding agents write by hand as CLAUDE.md or AGENTS.md, here kept by
the model: after each task it rewrites the file with what was learned. A baseline of the coding
adaptation of ALMA; there is no paper.

Stores: one document in sections, at first empty. Episodes that have not been worked in yet wait,
and are read together with the next one.
Retrieves: the whole document, whatever is asked. Without a model it stays empty: nothing is told.
Forgets: what the model leaves out when it rewrites the document; what goes beyond 8,000
characters, by whole lines; the oldest of the episodes that wait, when more than five do. What the
model reads of an episode is cut to 1,500 characters for each observation and 16,000 in all, the
middle first.

A reply without the tag, an empty file, one that goes round in circles and one that lost over four
fifths of its words all leave the old file as it was: in ALMA's own curated baseline such a reply
wipes everything.
"""

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True

CURATOR = """You keep the notes file of an agent that works on many tasks, often in the same \
surroundings. The agent reads the whole file before every task.

After each task you are given the file and what the agent did. Rewrite the file so that the next \
task goes better:
- what holds in these surroundings: how things are laid out, named, run and checked;
- which ways of working led to a reward, and which mistakes cost time or failed;
- short rules that can be followed, the most useful first, in sections with headings.

Leave out what any capable agent knows anyway, what happened only once by chance, and the story of \
single tasks. Keep every older note that is still right: what you do not write down is lost. Correct \
notes that the new experience shows to be wrong.

Write at most about {characters} characters, all of it between <notes> and </notes>."""
TASK = """The notes file so far:

<old_notes>
{notes}
</old_notes>

What the agent did since:

{stories}

Write the new notes file."""


class NotesFile(Memory):
    """Remembers one curated notes file and tells it whole."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    CHARACTERS = 8_000  # of the document at most
    COLLAPSE = 0.2  # a new document with a smaller share of the old one's words is not believed
    WAITING = 5  # episodes that are read together at most
    EACH, ALL = 1_500, 16_000  # characters of an observation, and of an episode, in a prompt

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.notes = ""
        self.waiting: list[str] = []

    async def retrieve(self, query: Query) -> str:
        return self.notes

    async def update(self, experience: Experience) -> None:
        story = text.transcript(experience, self.EACH, self.ALL)
        if not story:
            return
        self.waiting = [*self.waiting, story][-self.WAITING :]
        prompt = TASK.format(notes=self.notes or "(empty)", stories="\n\n".join(self.waiting))
        system = CURATOR.format(characters=self.CHARACTERS)
        reply = await text.ask(self.tools, prompt, system=system)
        new = text.tagged(reply, "notes") if isinstance(reply, str) else ""
        new = text.revised(self.notes, new, self.CHARACTERS, self.COLLAPSE)
        if new:
            self.notes, self.waiting = new, []
        else:
            self.tools.log("the notes stay as they were: there were no usable new ones")
