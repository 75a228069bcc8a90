"""A notes file that begins with conventions for repairing Python and is kept up by a model.

The same as the notes file that starts empty, but its first version was written by a person: about
2,000 characters of good practice in repairing Python projects. A baseline of the coding
adaptation of ALMA, there seeded with 1,986 characters; there is no paper, and the words here are
others.

Stores: one document in sections, at first the conventions. Episodes that have not been worked in
yet wait, and are read together with the next one.
Retrieves: the whole document, whatever is asked. Without a model it stays as it began: the
conventions are told.
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

START = """## How to work
1. Read the failing test or the report first, and say in one sentence what should happen.
2. Run the tests before any change, so that old failures are known from new ones.
3. Find the smallest piece of code that decides the wrong result. Read it whole, then its callers.
4. Change the cause and not the symptom, in as few lines as will do. Never weaken or skip a test.
5. Run the failing test, then all tests. If something else broke, undo and think again.
6. Look at the whole change once more before handing it in: nothing left over, no stray prints.

## Where Python projects go wrong
- Off by one: `range` ends before its stop; `[a:b]` leaves out `b`; the first and last element.
- Empty input: an empty list, text or file, `None` in place of a value, a missing key.
- A mutable default argument is shared by all calls: use `None` and make it inside.
- A list or dict that is changed while it is walked, or handed out and changed by the caller.
- `is` where `==` is meant; a falsy `0` or empty text taken for a missing value.
- Integer and float division, rounding, and sums of floats compared with `==`.
- Text and bytes, letter case, white space at the ends, line ends, time zones.
- Exceptions: too broad an `except` hides the cause; the type that callers expect matters.
- Order: sort keys, stability, reversed comparisons, iteration over a set.
- A value that is returned in one branch and forgotten in another.
- Imports that go in circles; a name that shadows a built-in or a module.

## Reading failures
- The last line of a traceback says what, the last frame in the project's own code says where.
- Compare expected and actual value by type first, then by length, then by the first difference.
- A test that fails only together with others points at shared state.

## Style
- Follow the names, types and layout of the code around; add no dependency for a small fix.
- Keep public names and signatures, unless the task asks otherwise.
- When the same mistake may be in sibling functions, look there too.
"""

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


class NotesFileSeeded(Memory):
    """Remembers one notes file that began with conventions, and tells it whole."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    CHARACTERS = 8_000  # of the document at most
    COLLAPSE = 0.2  # a new document with a smaller share of the old one's words is not believed
    WAITING = 5  # episodes that are read together at most
    EACH, ALL = 1_500, 16_000  # characters of an observation, and of an episode, in a prompt

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.notes = START.strip()
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
