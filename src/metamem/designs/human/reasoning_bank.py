"""Strategies that a model draws from each episode, told when a similar task comes.

ReasoningBank (arXiv 2509.25140). After an episode the model explains why it was won or lost and
writes at most three items of a title, a description and a content; won and lost episodes have
prompts of their own. The items are only ever added to.

Stores: under the goal and first observation of each episode, the items that the model drew from
it. An episode of which it drew none waits, and is tried again after a later one has worked.
Retrieves: the items of the nearest episodes by cosine, if nearer than a floor; else nothing.
Without a model there are no items, and nothing is told.
Forgets: no item. An episode that waits is let go after a second fruitless try, or when too many
wait. What the model reads of an episode is cut to 600 characters for each observation and 12,000
in all, the middle first.

The paper has no rewards and lets a model judge whether an episode was won; here the reward says
so. ALMA's variant keeps the raw reply in place of items, tells the single nearest one and, in
every domain, bids the model be an expert of web pages; here items are read one by one, what is
not one is not stored, and the prompts know no domain.
"""

import re

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True

WON = """You turn the experience of an agent into reasoning strategies that it can use again.
You are given a task that the agent solved, and what it did. First think about why this led to \
success. Then write down what is worth remembering for similar tasks."""
LOST = """You turn the experience of an agent into reasoning strategies that it can use again.
You are given a task that the agent failed, and what it did. First think about why it failed and \
what would have prevented it. Then write down lessons and precautions for similar tasks."""
FORM = """Write at most {most} items. They must not overlap or repeat each other, and must hold \
for similar tasks too: name no particular thing, number or text of this task. Write each item so:

# Item 1
## Title
a few words that name the strategy
## Description
one sentence that sums it up
## Content
one to three sentences: the insight and how to act on it

What the agent did:
{story}"""

_NAMES = "title|description|content"
_PART = re.compile(
    rf"^\s*(?:#+[\s*]*({_NAMES})\b[\s*]*:?|[-*\s]*({_NAMES})[\s*]*:)[\s*]*(.*)$", re.I
)
_HEAD = re.compile(r"^#+\s|^\W*(memory\s+)?item\s*\d+\W*$", re.I)


def items(reply: str) -> list[dict[str, str]]:
    """The items of a reply: those with a title and a content, in any reasonable markdown."""
    found: list[dict[str, str]] = []
    part = ""
    for line in reply.splitlines():
        heading = _PART.match(line)
        if heading:
            part = (heading.group(1) or heading.group(2)).lower()
            if part == "title":
                found.append({})
            if found:
                found[-1][part] = heading.group(3).strip()
        elif _HEAD.match(line):
            part = ""
        elif part and found:
            found[-1][part] = f"{found[-1][part]} {line.strip()}".strip()
    return [item for item in found if item.get("title") and item.get("content")]


class ReasoningBank(Memory):
    """Remembers strategies drawn from won and lost episodes and tells those of similar ones."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    NEAREST = 1  # episodes whose items are told
    FLOOR = 0.3  # cosine below which no episode is similar enough
    ITEMS = 3  # drawn from one episode at most
    PART = 1_000  # characters of each part of an item at most
    SUCCESS = 1.0  # the reward from which an episode counts as won
    WAITING = 10  # episodes without items that are kept for another try
    EACH, ALL = 600, 12_000  # characters of an observation, and of an episode, in a prompt

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.beginnings = tools.vectors("beginnings")
        self.bank: list[list[dict[str, str]]] = []  # items of one episode together
        self.waiting: list[tuple[str, str, bool]] = []  # beginning, story, won

    async def retrieve(self, query: Query) -> str:
        beginning = f"{query.goal}\n{query.observation}"
        hits = await self.beginnings.search(beginning, k=self.NEAREST, floor=self.FLOOR)
        told = [self._tell(item) for hit in hits for item in self.bank[hit.payload]]
        return "Strategies from similar tasks:\n" + "\n".join(told) if told else ""

    async def update(self, experience: Experience) -> None:
        story = text.transcript(experience, self.EACH, self.ALL)
        if not story:
            return
        beginning = f"{experience.goal}\n{experience.observation}"
        new = (beginning, story, experience.reward >= self.SUCCESS)
        if not await self._learn(*new):
            self.waiting = [*self.waiting, new][-self.WAITING :]
        elif self.waiting and not await self._learn(*self.waiting.pop(0)):
            self.tools.log("an episode gave no items twice and is let go")

    async def _learn(self, beginning: str, story: str, won: bool) -> bool:
        """Draw items from an episode; whether there were any."""
        prompt = FORM.format(most=self.ITEMS, story=story)
        reply = await text.ask(self.tools, prompt, system=WON if won else LOST)
        found = items(reply)[: self.ITEMS] if isinstance(reply, str) else []
        drawn = [{k: text.shorten(v, self.PART) for k, v in item.items()} for item in found]
        if not drawn:
            self.tools.log("no items were drawn from an episode")
            return False
        await self.beginnings.add(beginning, len(self.bank))
        self.bank.append(drawn)
        return True

    def _tell(self, item: dict[str, str]) -> str:
        described = f" ({item['description']})" if item.get("description") else ""
        return f"- {item['title']}{described}: {item['content']}"
