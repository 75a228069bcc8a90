"""Many answers of one transformer at once: packed batches and a cache whose prefixes are shared.

A row is a text that grows. In every round each row feeds what the network has not seen of it yet:
a prompt, one token, or several where a list of allowed answers left no choice in between. So there
is no difference between reading prompts and writing answers, and rows come and go at any round.

Keys and values live in blocks of a pool. The blocks of a finished row stay until others need the
room, and a later row that begins with the same tokens takes them over (the next turn of the same
conversation begins with nearly all of the last one).
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import torch

from bench.network import BLOCK, SCRATCH, Network

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
    prompt: int = 0  # tokens
    reused: int = 0
    computed: int = 0
    blocks: list[int] = field(default_factory=list)
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
class _Known:
    """A full block whose content later rows may share."""

    block: int
    key: tuple[Any, ...]
    users: int = 0


class Pool:
    """Which block holds what. Shared blocks that nobody uses are given up, the oldest first."""

    def __init__(self, blocks: int) -> None:
        self.total = blocks - 1
        self._free = list(range(blocks - 1, SCRATCH, -1))
        self._known: dict[tuple[Any, ...], _Known] = {}  # (the known before it, its tokens)
        self._by_block: dict[int, _Known] = {}
        self._unused: OrderedDict[int, _Known] = OrderedDict()

    def take(self, row: Row, blocks: int) -> bool:
        """Gives a row all the blocks it may need; False where there is no room now."""
        shared = self._prefix(row.tokens)
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
        row.computed = row.reused = len(shared) * BLOCK
        return True

    def give_back(self, row: Row) -> None:
        """Keeps what can be shared of a finished row and frees the rest."""
        before: _Known | None = None
        for number, block in enumerate(row.blocks):
            end = (number + 1) * BLOCK
            known = self._by_block.get(block)
            if known is not None:
                known.users -= 1
            elif end <= row.computed:
                key = (before, *row.tokens[end - BLOCK : end])
                known = self._known.get(key)
                if known is not None:  # another row was faster
                    self._free.append(block)
                else:
                    known = self._known[key] = self._by_block[block] = _Known(block, key)
            else:
                self._free.append(block)
                continue
            before = known
        self._rest(row)
        row.blocks = []

    def _rest(self, row: Row) -> None:
        """Ends of texts are given up before their beginnings, on which they rest."""
        for block in reversed(row.blocks):
            known = self._by_block.get(block)
            if known is not None and known.users == 0:
                self._unused[block] = known
                self._unused.move_to_end(block)

    def _prefix(self, tokens: Sequence[int]) -> list[_Known]:
        found: list[_Known] = []
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
        while self._waiting:
            row = self._waiting[0]
            if not self._pool.take(row, -(-(row.prompt + row.most) // BLOCK)):
                break
            self.reused += row.reused
            self._running.append(self._waiting.pop(0))

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
            row.stopped = token in self._ends
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
