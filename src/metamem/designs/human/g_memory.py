"""A graph of past tasks and rules of thumb that a model keeps, voted up and down by results.

G-Memory (arXiv 2506.07398): three layers. Each episode is condensed to its key steps (and, where
it was lost, the reason); tasks are nodes of a graph, joined where they are similar; rules are
linked to the tasks they hold for. After every fifth episode the model compares won with lost
episodes around five of them drawn by chance, and answers with ADD, EDIT, AGREE or REMOVE. A new
rule scores 2; AGREE and EDIT add 1, REMOVE takes 1 (3 where there are ten rules or more), a rule
told before a win gains 1 and before a loss loses 2; at 0 it is gone. After every twentieth episode
tasks are clustered by their nearest neighbours and the rules of each cluster are merged.

Stores: every episode, shortened and without steps that were punished (unless all were), with key
steps and reason; the graph; the rules with score and links. Key steps that the model failed to
give are asked for once more with a later episode.
Retrieves: of the two nearest tasks and their neighbours, filled up by similarity, the won episode
that the model finds most relevant, and the three rules that are linked to most of the task, its
four nearest wins and two nearest losses. Without a model: the nearest won episode, and no rules.
Forgets: rules that fall to 0 and rules merged into others; episodes never. What the model reads
and the agent is told of an episode is cut to 400 characters for each observation and 4,000 in all,
the middle first. At most 20 calls in one update: rules are merged with the episode after the
twentieth.

ALMA's variant, like the paper's code, pays for the model's ranking of won episodes and ignores it,
and may merge all rules into one or none; ALMA's looks for wins among the losses. Here the ranking
counts, a merge leaves at least two rules, and a reply that cannot be read changes nothing. Rules are
voted on for the very goal that they were told for, and before they are edited. There is one agent
here, so the paper's rules for each role, and the steps by which agents talk, have no place.
"""

import re
from dataclasses import dataclass, field, replace

import networkx
import numpy as np

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True

KEY_STEPS = """You find the key steps in what an agent did. Keep the steps that mattered for the \
task, in their order, and leave out detours and steps that had no effect. Add no step that is not \
there. Answer with a numbered list and nothing else."""
REASON = """You find out why an agent failed its task. Say in one or two sentences which step or \
belief was wrong and what should have been done."""
RELEVANCE = """You judge how much a solved task helps with a new one. Answer with one number from \
1 (no help) to 10 (nearly the same task)."""
RULES = """You keep a list of general rules that help an agent with its tasks. You are given \
episodes and the numbered rules that seem to concern them. Answer with at most {most} lines, each \
one of these operations:

ADD: a new rule that is general, not yet in the list, and would have helped
EDIT 2: the better wording of rule 2, where it is too narrow or partly wrong
AGREE 2: where rule 2 is borne out by the episodes
REMOVE 2: where rule 2 is contradicted by the episodes or says the same as another

A rule names no single thing of one task."""
FULL = "\nThe list is long: use EDIT, AGREE and REMOVE first, and ADD only what is truly new."
MERGE = """You tidy a list of rules that come from similar tasks. Merge rules that say much the \
same into clear ones, and add nothing of your own. Answer with at most {most} rules as a numbered \
list and nothing else."""

_OPERATION = re.compile(
    r"^[ \t\-*>]*(ADD|EDIT|AGREE|REMOVE)\b[ \t]*#?(\d{0,4})[ \t]*[:.)]?[ \t]*(.*)$", re.M
)
_NUMBERED = re.compile(r"^[ \t]*\d+[ \t]*[.):][ \t]*(\S.*)$", re.M)
_ORDER = ("REMOVE", "AGREE", "EDIT", "ADD")


@dataclass
class Task:
    """One episode as it is kept."""

    goal: str
    story: str
    won: bool
    key_steps: str = ""
    reason: str = ""
    tries: int = 0  # to have it condensed


@dataclass
class Rule:
    """A rule of thumb, with the goals it is linked to."""

    words: str
    score: int
    goals: list[str] = field(default_factory=list)


def operations(reply: str, most: int) -> list[tuple[str, int, str]]:
    """The operations of a reply in the order of their use: kind, number of the rule, words."""
    found = []
    for kind, number, words in _OPERATION.findall(reply)[:most]:
        words = words.strip()
        complete = words if kind in ("ADD", "EDIT") else True
        if complete and (kind == "ADD" or number):
            found.append((kind, int(number or 0), words))
    return sorted(found, key=lambda operation: _ORDER.index(operation[0]))


def numbered(reply: str) -> list[str]:
    """The lines of a numbered list, each once."""
    return list(dict.fromkeys(line.strip() for line in _NUMBERED.findall(reply)))


class GMemory(Memory):
    """Remembers condensed episodes, which tasks are alike, and rules voted on by results."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    SUCCESS = 1.0  # the reward from which an episode counts as won
    SHOTS, TOLD_RULES = 1, 3  # told at most
    HOPS = 1  # in the graph, from the nearest tasks
    JOINED, NEIGHBOURS = 0.7, 10  # cosine from which tasks are joined, and how many at most
    EVERY, ANCHORS = 5, 5  # episodes between two looks at the rules, and tasks looked at
    WINS, LOSSES = 3, 1  # episodes near each of those
    CHUNK = 5  # won episodes that the model reads together
    MERGE_EVERY = 20  # episodes
    NEW, UP, DOWN, DOWN_FULL, FULL_AT = 2, 1, 1, 3, 10  # scores of rules, and a full list
    CREDIT, BLAME = 1, 2  # for rules that were told before a win or a loss
    OPERATIONS = 4  # in one reply
    TRIES = 2  # to have an episode condensed
    CALLS = 20  # of the model in one update
    REMEMBERED = 100  # goals for which it is known what rules were told
    EACH, ALL, RULE = 400, 4_000, 500  # characters of an observation, an episode, and a rule

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.near = tools.vectors("tasks")
        self.graph = tools.graph("tasks")
        self.tasks: list[Task] = []
        self.rules: list[Rule] = []
        self.told: dict[str, list[str]] = {}  # goal: words of the rules told for it
        self.merge_due = False
        self.calls = 0

    # --- update ---

    async def update(self, experience: Experience) -> None:
        unpunished = tuple(step for step in experience.steps if step.reward >= 0)
        kept = replace(experience, steps=unpunished or experience.steps)
        story = text.transcript(kept, self.EACH, self.ALL)
        if not story:
            return
        self.calls = self.CALLS
        task = Task(
            experience.goal or experience.observation, story, experience.reward >= self.SUCCESS
        )
        self._vote(task)
        if await self._condense(task):
            waiting = (t for t in self.tasks if not t.key_steps and t.tries < self.TRIES)
            pending = next(waiting, None)
            if pending:
                await self._condense(pending)
        await self._join(task)
        if len(self.tasks) % self.EVERY == 0:
            await self._look_at_rules()
        elif self.merge_due:
            self.merge_due = not await self._merge()
        self.merge_due = self.merge_due or len(self.tasks) % self.MERGE_EVERY == 0

    def _vote(self, task: Task) -> None:
        """The rules told for this goal answer for the result."""
        told = self.told.pop(task.goal, [])
        for rule in self.rules:
            if rule.words in told:
                rule.score += self.CREDIT if task.won else -self.BLAME
        self._drop_rules()

    def _drop_rules(self) -> None:
        self.rules = [rule for rule in self.rules if rule.score > 0]

    async def _condense(self, task: Task) -> bool:
        """Ask for what is not known yet of an episode; whether its key steps are known now."""
        task.tries += 1
        story = text.kinds(task.story)
        if not task.key_steps:
            task.key_steps = await self._ask(story, KEY_STEPS)
        if not task.won and not task.reason:
            task.reason = await self._ask(story, REASON)
        return bool(task.key_steps)

    async def _ask(self, prompt: str, system: str) -> str:
        """The reply, or nothing: also where this update has used up its calls."""
        if self.calls <= 0:
            return ""
        self.calls -= 1
        reply = await text.ask(self.tools, prompt, system=system)
        return text.shorten(reply.strip(), self.ALL) if isinstance(reply, str) else ""

    async def _join(self, task: Task) -> None:
        """Add the task to the graph, with edges to those most like it."""
        hits = await self.near.search(task.goal, k=self.NEIGHBOURS, floor=self.JOINED)
        self.graph.add_node(task.goal)
        for hit in hits:
            if hit.text != task.goal:
                self.graph.add_edge(task.goal, hit.text)
                self.graph.add_edge(hit.text, task.goal)
        await self.near.add(task.goal, len(self.tasks))
        self.tasks.append(task)

    # --- rules ---

    async def _look_at_rules(self) -> None:
        drawn = self.tools.rng.sample(self.tasks, min(self.ANCHORS, len(self.tasks)))
        for anchor in drawn:
            near = [*await self._nearest(anchor.goal, True, self.WINS), anchor]
            near += await self._nearest(anchor.goal, False, self.LOSSES)
            near = [task for n, task in enumerate(near) if task not in near[:n]]
            won = [task for task in near if task.won]
            lost = [task for task in near if not task.won]
            goals = [task.goal for task in near]
            shown = [rule for rule in self.rules if 2 * _links(rule, goals) >= len(goals)]
            for win, loss in zip(won, lost, strict=False):
                episodes = f"Won:\n{win.story}\n\nLost:\n{loss.story}\n\nWhy: {loss.reason}"
                await self._change(shown, episodes, [win.goal, loss.goal])
            for start in range(0, len(won), self.CHUNK):
                chunk = won[start : start + self.CHUNK]
                episodes = "\n\n".join(
                    f"Won: {self._short(t)}\n{t.key_steps or t.story}" for t in chunk
                )
                await self._change(shown, episodes, [task.goal for task in chunk])
            self._drop_rules()

    async def _change(self, shown: list[Rule], episodes: str, goals: list[str]) -> None:
        """Let the model change the rules in the light of some episodes."""
        full = len(self.rules) >= self.FULL_AT
        system = RULES.format(most=self.OPERATIONS) + (FULL if full else "")
        listed = text.numbered(rule.words for rule in shown) or "(none yet)"
        reply = await self._ask(f"{episodes}\n\nThe rules:\n{listed}", system)
        for kind, number, said in operations(reply, self.OPERATIONS):
            words = text.shorten(said, self.RULE)
            same = next((rule for rule in self.rules if rule.words == words), None)
            if kind == "ADD":
                if same is None:
                    self.rules.append(Rule(words, self.NEW, list(dict.fromkeys(goals))))
                continue
            if not 1 <= number <= len(shown):
                continue
            rule = shown[number - 1]
            if kind == "REMOVE":
                rule.score -= self.DOWN_FULL if full else self.DOWN
                continue
            if kind == "EDIT" and same is None:
                rule.words = words
            elif kind == "EDIT" and same is not None:
                rule = same  # the better wording is there already: that one is agreed with
            rule.score += self.UP
            rule.goals = list(dict.fromkeys([*rule.goals, *goals]))

    async def _merge(self) -> bool:
        """Merge the rules of each cluster of tasks; whether all clusters had their turn."""
        clusters = await self._clusters()
        belongs: dict[int, list[Rule]] = {}
        for rule in self.rules:
            links = [_links(rule, goals) for goals in clusters]
            belongs.setdefault(int(np.argmax(links)), []).append(rule)
        for cluster, rules in sorted(belongs.items()):
            most = max(2, len(rules) // 3)
            if len(rules) <= most:
                continue
            if self.calls <= 0:
                return False
            listed = text.numbered(rule.words for rule in rules)
            made = numbered(await self._ask(listed, MERGE.format(most=most)))[:most]
            if len(made) < 2:
                self.tools.log("a cluster of rules stays as it was: they were not merged")
                continue
            self.rules = [rule for rule in self.rules if rule not in rules]
            short = (text.shorten(words, self.RULE) for words in made)
            self.rules += [Rule(words, self.NEW, list(clusters[cluster])) for words in short]
        return True

    async def _clusters(self) -> list[list[str]]:
        """Goals in groups: each goes with its nearest neighbour (the first partition of FINCH)."""
        goals = list(self.graph)
        rows = await self.tools.embed(goals)
        alike = np.round(rows @ rows.T, 6)
        np.fill_diagonal(alike, -np.inf)
        joined: networkx.Graph[str] = networkx.Graph()
        joined.add_nodes_from(goals)
        if len(goals) > 1:
            joined.add_edges_from(
                (goals[n], goals[int(np.argmax(alike[n]))]) for n in range(len(goals))
            )
        groups = (sorted(group) for group in networkx.connected_components(joined))
        return sorted(groups)

    # --- retrieve ---

    async def retrieve(self, query: Query) -> str:
        goal = query.goal or query.observation
        wins = await self._related_wins(goal)
        shots = await self._most_relevant(goal, wins)
        rules = await self._rules_for(goal)
        self.told[goal] = [rule.words for rule in rules]
        for forgotten in list(self.told)[: -self.REMEMBERED]:
            del self.told[forgotten]
        told = [self._tell(task) for task in shots]
        if rules:
            listed = text.bullets(rule.words for rule in rules)
            told.append(f"Rules that held for such tasks:\n{listed}")
        return "\n\n".join(told)

    async def _nearest(self, goal: str, won: bool, most: int) -> list[Task]:
        hits = await self.near.search(goal, k=len(self.tasks), floor=-1.0)
        found = [self.tasks[hit.payload] for hit in hits]
        return [task for task in found if task.won == won][:most]

    async def _related_wins(self, goal: str) -> list[Task]:
        """Won episodes at the nearest tasks and their neighbours, then others by similarity."""
        hits = await self.near.search(goal, k=2 * self.SHOTS, floor=-1.0)
        around: set[str] = set()
        for hit in hits:
            around |= {*networkx.ego_graph(self.graph, hit.text, radius=self.HOPS)}
        by_similarity = await self._nearest(goal, True, len(self.tasks))
        related = [task for task in by_similarity if task.goal in around]
        others = [task for task in by_similarity if task.goal not in around]
        return [*related, *others][: 2 * self.SHOTS]

    async def _most_relevant(self, goal: str, wins: list[Task]) -> list[Task]:
        """The won episodes that the model finds most helpful; where it is silent, the nearest."""
        if len(wins) <= self.SHOTS:
            return wins
        self.calls = self.CALLS
        marks = []
        for task in wins:
            new = text.shorten(goal, self.ALL)
            prompt = f"The solved task:\n{task.story}\n\nThe new task:\n{new}"
            number = re.search(r"\d{1,3}", await self._ask(prompt, RELEVANCE))
            marks.append(min(10, int(number.group())) if number else 0)
        order = sorted(range(len(wins)), key=lambda n: -marks[n])
        return [wins[n] for n in order[: self.SHOTS]]

    async def _rules_for(self, goal: str) -> list[Rule]:
        wins = await self._nearest(goal, True, 4)
        losses = await self._nearest(goal, False, 2)
        goals = list(dict.fromkeys([*(task.goal for task in [*wins, *losses]), goal]))
        linked = [rule for rule in self.rules if _links(rule, goals)]
        return sorted(linked, key=lambda rule: -_links(rule, goals))[: self.TOLD_RULES]

    def _tell(self, task: Task) -> str:
        steps = f"\nKey steps:\n{task.key_steps}" if task.key_steps else ""
        return (
            f"A similar task that was solved: {self._short(task)}{steps}\nAll of it:\n{task.story}"
        )

    def _short(self, task: Task) -> str:
        return text.shorten(task.goal, self.EACH)


def _links(rule: Rule, goals: list[str]) -> int:
    return sum(goal in rule.goals for goal in goals)
