"""One cheat sheet that a model rewrites after every episode, told whole whatever the task.

Dynamic Cheatsheet, the cumulative variant (arXiv 2504.07952). A curator reads the old sheet and
what just happened and writes the new sheet in full: proven strategies that can be used again, as
blocks with a count of their uses, in at most about 2,500 words.

Stores: one text. Episodes that the curator has not worked in yet wait, and are read together
with the next one.
Retrieves: the whole sheet, whatever is asked. Without a model it stays empty: nothing is told.
Forgets: what the curator leaves out of a new sheet; what goes beyond 20,000 characters, by whole
lines; the oldest of the episodes that wait, when more than five do. What the curator reads of an
episode is cut to 600 characters for each observation and 12,000 in all, the middle first.

The paper's curator judges by itself whether the answer was right; here, as in ALMA's variant, it
is told the reward. In ALMA's variant a reply without the tag wipes the sheet; here such a reply,
an empty sheet, one that goes round in circles and one that lost over four fifths of its words
all leave the old sheet as it was.
"""

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True

CURATOR = """You are the curator of a cheat sheet that helps an agent with its tasks. After every \
task you improve the sheet.

- Keep what is useful, correct and can be used again: strategies, worked patterns, pitfalls and how \
to avoid them. First judge what in the new experience was right: a high reward speaks for it.
- Only keep strategies that have proven themselves. Say what they presuppose and where they end.
- Merge what says the same, sharpen what is vague, drop what is trivial.
- Every item carries a count of how often it helped. Raise it when the new experience used the item \
with success, and put items with high counts first.

Write the sheet in sections, every item in this form:

<item>
when it applies, and what to do, with a short example where that helps
</item>
count: 1

The new sheet replaces the old one. Whatever you do not copy into it is lost, so copy everything \
that is still of use. Write at most about {words} words, all of it between <cheatsheet> and \
</cheatsheet>."""
EPISODE = """The sheet so far:

<old_cheatsheet>
{sheet}
</old_cheatsheet>

What happened since:

{stories}

Write the new sheet."""


class DynamicCheatsheet(Memory):
    """Remembers one curated sheet of strategies and tells it whole."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    WORDS = 2_500  # that the curator is asked to keep to
    CHARACTERS = 20_000  # of a sheet at most
    COLLAPSE = 0.2  # a new sheet with a smaller share of the old one's words is not believed
    WAITING = 5  # episodes that are read together at most
    EACH, ALL = 600, 12_000  # characters of an observation, and of an episode, in a prompt

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.sheet = ""
        self.waiting: list[str] = []

    async def retrieve(self, query: Query) -> str:
        return self.sheet

    async def update(self, experience: Experience) -> None:
        story = text.transcript(experience, self.EACH, self.ALL)
        if not story:
            return
        self.waiting = [*self.waiting, story][-self.WAITING :]
        prompt = EPISODE.format(sheet=self.sheet or "(empty)", stories="\n\n".join(self.waiting))
        system = CURATOR.format(words=self.WORDS)
        reply = await text.ask(self.tools, prompt, system=system)
        new = text.tagged(reply, "cheatsheet") if isinstance(reply, str) else ""
        new = text.revised(self.sheet, new, self.CHARACTERS, self.COLLAPSE)
        if new:
            self.sheet, self.waiting = new, []
        else:
            self.tools.log("the sheet stays as it was: there was no usable new one")
