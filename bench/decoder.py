"""Many answers of one transformer at once: packed batches and a cache whose prefixes are shared.

A row is a text that grows. In every round each row feeds what the network has not seen of it yet:
a prompt, one token, or several where a list of allowed answers left no choice in between. So there
is no difference between reading prompts and writing answers, and rows come and go at any round.

Keys and values live in blocks of a pool. A block can be shared as soon as it is computed, and stays
until others need the room: the next turn of a conversation begins with nearly all of the last one,
and hundreds of cases begin with the same worked examples. Of rows that come together and begin
alike, one goes first and the others wait a round for what it computes.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import torch

from bench.network import BLOCK, SCRATCH, Network

WORTH_WAITING = 4 * BLOCK  # tokens that another row is just computing

Tree = dict[int, "Tree | str"]  # tokens that may come next; at the end of an answer, its text


@dataclass(eq=False)
class Row:
    """One answer in the making."""

    tokens: list[int]
    most: int  # tokens that may be written
    done: Callable[["Row"], None]  # called where it is computed, once, also when it failed
    temperature: float = 0.0
    random: Random = field(default_factory=lambda: Random(0))
    tree: Tree | None = None  # of the allowed answers; None: anything
    ends: frozenset[int] = frozenset()  # tokens that end this answer, beside those that end all
    prompt: int = 0  # tokens
    reused: int = 0
    computed: int = 0
    blocks: list[int] = field(default_factory=list)
    known: list["Known"] = field(default_factory=list)  # what its first full blocks hold
    chosen: str | None = None  # the allowed answer that was written
    stopped: bool = False  # by itself, not for its length
    error: str = ""

    def __post_init__(self) -> None:
        self.prompt = len(self.tokens)

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def pending(self) -> int:
        return len(self.tokens) - self.computed

    @property
    def made(self) -> list[int]:
        return self.tokens[self.prompt :]

    def slots(self, positions: np.ndarray) -> np.ndarray:
        """Where in the pool some positions of this row live."""
        return np.array(self.blocks)[positions // BLOCK] * BLOCK + positions % BLOCK


@dataclass(eq=False)
class Known:
    """A full block whose content later rows may share."""

    block: int
    key: tuple[Any, ...]
    users: int = 0


class Pool:
    """Which block holds what. Shared blocks that nobody uses are given up, the oldest first."""

    def __init__(self, blocks: int) -> None:
        self.total = blocks - 1
        self._free = list(range(blocks - 1, SCRATCH, -1))
        self._known: dict[tuple[Any, ...], Known] = {}  # (the known before it, its tokens)
        self._by_block: dict[int, Known] = {}
        self._unused: OrderedDict[int, Known] = OrderedDict()

    def take(self, row: Row, blocks: int, shared: list[Known]) -> bool:
        """Gives a row all the blocks it may need, `shared` (its `prefix`) among them; False where
        there is no room now."""
        new = blocks - len(shared)
        spare = sum(known.users == 0 for known in shared)
        if new > len(self._free) + len(self._unused) - spare:
            return False
        for known in shared:
            known.users += 1
            self._unused.pop(known.block, None)
        while len(self._free) < new:
            _, oldest = self._unused.popitem(last=False)
            del self._known[oldest.key], self._by_block[oldest.block]
            self._free.append(oldest.block)
        row.blocks = [known.block for known in shared] + [self._free.pop() for _ in range(new)]
        row.known = shared
        row.computed = row.reused = len(shared) * BLOCK
        return True

    def publish(self, row: Row) -> None:
        """Lets others share what was computed of a row."""
        for number in range(len(row.known), row.computed // BLOCK):
            block, end = row.blocks[number], (number + 1) * BLOCK
            key = (row.known[-1] if row.known else None, *row.tokens[end - BLOCK : end])
            known = self._known.get(key)
            if known is None:  # else another row was faster, and this one keeps its own copy
                known = self._known[key] = self._by_block[block] = Known(block, key, users=1)
            row.known.append(known)

    def give_back(self, row: Row) -> None:
        """Keeps what can be shared of a finished row and frees the rest."""
        self.publish(row)
        for block in row.blocks:
            known = self._by_block.get(block)
            if known is not None:
                known.users -= 1
            else:
                self._free.append(block)
        self._rest(row)
        row.blocks, row.known = [], []

    def _rest(self, row: Row) -> None:
        """Ends of texts are given up before their beginnings, on which they rest."""
        for block in reversed(row.blocks):
            known = self._by_block.get(block)
            if known is not None and known.users == 0:
                self._unused[block] = known
                self._unused.move_to_end(block)

    def prefix(self, tokens: Sequence[int]) -> list[Known]:
        """What is there already of a text, from its beginning."""
        found: list[Known] = []
        for end in range(BLOCK, len(tokens), BLOCK):  # one token at least remains to be fed
            known = self._known.get((found[-1] if found else None, *tokens[end - BLOCK : end]))
            if known is None:
                break
            found.append(known)
        return found


class Decoder:
    """Takes rows at any time and finishes them, as many at once as there is room for."""

    def __init__(self, network: Network, pool: Pool, ends: Collection[int], tokens: int) -> None:
        self._network, self._pool = network, pool
        self._ends, self._cap = frozenset(ends), tokens
        self._waiting: list[Row] = []
        self._running: list[Row] = []
        self.rounds = self.fed = self.reused = self.written = 0

    @property
    def busy(self) -> bool:
        return bool(self._waiting or self._running)

    def add(self, row: Row) -> None:
        if row.tree is not None:
            self._without_choice(row)
        room = min(self._pool.total * BLOCK, self._network.window)
        if row.chosen is not None or row.length - row.prompt >= row.most:
            row.done(row)
        elif row.prompt + row.most > room:
            row.error = (
                f"{row.prompt} + {row.most} tokens are more than the {room} there is room for"
            )
            row.done(row)
        else:
            self._waiting.append(row)

    @torch.inference_mode()
    def step(self) -> None:
        """One round."""
        self._admit()
        rows = self._share()
        if not rows:
            return
        self.rounds += 1
        self.fed += sum(row.pending for row in rows)
        logits = self._network.round(rows)
        for row, token in zip(rows, self._picked(rows, logits), strict=True):
            row.computed = row.length
            self._pool.publish(row)
            self._write(row, token)
        for row in rows:
            if row.stopped or row.length - row.prompt >= row.most:
                self.written += row.length - row.prompt
                self._running.remove(row)
                self._pool.give_back(row)
                row.done(row)

    def drop_all(self, error: str) -> None:
        """After a failure nothing can be said of rows under way."""
        for row in [*self._waiting, *self._running]:
            self._pool.give_back(row)
            row.error = error
            row.done(row)
        self._waiting, self._running = [], []

    def _admit(self) -> None:
        """Lets rows in, save those that begin with what another is just computing."""
        leading = {key: row for row in self._running if (key := _next_key(row, row.known))}
        waiting: list[Row] = []
        for place, row in enumerate(self._waiting):
            shared = self._pool.prefix(row.tokens)
            key = _next_key(row, shared)
            leader = leading.get(key) if key else None
            if leader is not None and _alike(row, leader) - leader.computed >= WORTH_WAITING:
                waiting.append(row)
                continue
            if not self._pool.take(row, -(-(row.prompt + row.most) // BLOCK), shared):
                waiting += self._waiting[place:]
                break
            self.reused += row.reused
            self._running.append(row)
            if key:
                leading.setdefault(key, row)
        self._waiting = waiting

    def _share(self) -> list[Row]:
        """Whose turn it is: short feeds always, then long ones in order while there is room."""
        rows: list[Row] = []
        total = 0
        for row in sorted(self._running, key=lambda row: row.pending > 4 * BLOCK):
            if rows and total + row.pending > self._cap:
                break
            rows.append(row)
            total += row.pending
        return rows

    def _write(self, row: Row, token: int) -> None:
        row.tokens.append(token)
        if row.tree is None:
            row.stopped = token in self._ends or token in row.ends
            return
        self._follow(row, token)
        if not row.stopped:
            self._without_choice(row)

    def _without_choice(self, row: Row) -> None:
        """Where only one token can come next it needs no thought."""
        while not row.stopped and row.tree is not None and len(row.tree) == 1:
            token = next(iter(row.tree))
            row.tokens.append(token)
            self._follow(row, token)
        if not row.stopped and row.length - row.prompt > row.most:
            del row.tokens[row.prompt + row.most :]

    def _follow(self, row: Row, token: int) -> None:
        assert row.tree is not None
        reached = row.tree[token]
        if isinstance(reached, str):
            row.chosen, row.stopped = reached, True
        else:
            row.tree = reached

    def _picked(self, rows: Sequence[Row], logits: torch.Tensor) -> list[int]:
        """The next token of each row, drawn by the row's own chance."""
        tokens = [0] * len(rows)
        free = [n for n, row in enumerate(rows) if row.tree is None]
        bound = [n for n, row in enumerate(rows) if row.tree is not None]
        if free:
            for n, token in zip(free, self._draw(rows, free, logits[free].float()), strict=True):
                tokens[n] = token
        if bound:
            allowed = [list(rows[n].tree or ()) for n in bound]
            widest = max(map(len, allowed))
            table = torch.tensor([a + [-1] * (widest - len(a)) for a in allowed])
            table = table.to(logits.device)
            of_bound = logits[torch.tensor(bound, device=logits.device)]
            few = of_bound.gather(1, table.clamp(min=0)).float()
            few.masked_fill_(table < 0, float("-inf"))
            for n, a, place in zip(bound, allowed, self._draw(rows, bound, few), strict=True):
                tokens[n] = a[place]
        return tokens

    def _draw(self, rows: Sequence[Row], which: Sequence[int], logits: torch.Tensor) -> list[int]:
        heat = torch.tensor([rows[n].temperature for n in which], device=logits.device)[:, None]
        luck = torch.tensor([rows[n].random.random() for n in which], device=logits.device)[:, None]
        chances = (logits / heat.clamp(min=1e-4)).softmax(-1).cumsum(-1)
        drawn = (chances < luck * chances[:, -1:]).sum(-1)
        return torch.where(heat[:, 0] > 0, drawn, logits.argmax(-1)).tolist()


def _next_key(row: Row, known: Sequence[Known]) -> tuple[Any, ...] | None:
    """Names the first full block of a row that nobody has computed; None: there is none."""
    place = len(known) * BLOCK
    if place + BLOCK >= row.length:
        return None
    return (known[-1] if known else None, *row.tokens[place : place + BLOCK])


def _alike(one: Row, other: Row) -> int:
    """Tokens with which both begin."""
    size = min(one.length, other.length)
    if one.tokens[:size] == other.tokens[:size]:
        return size
    pairs = zip(one.tokens, other.tokens, strict=False)
    return next(n for n, (a, b) in enumerate(pairs) if a != b)
