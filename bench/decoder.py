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
from torch.nn import functional

BLOCK = 16  # tokens
SCRATCH = 0  # a block that belongs to nobody: what is written there is never read
GRAPH_ROWS, GRAPH_BLOCKS = (1, 2, 4, 8, 16), (64, 128, 256, 512)
MASK_NUMBERS = 1 << 30  # in the mask of one attention call, at most

Tree = dict[int, "Tree | str"]  # tokens that may come next; at the end of an answer, its text


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of similar length whose attention is computed together."""

    queries: torch.Tensor  # rows × longest: places in the packed tokens, padded
    blocks: torch.Tensor  # rows × most blocks, padded
    places: torch.Tensor  # of this group's tokens in the packed ones ...
    padded: torch.Tensor  # ... and among the padded queries


class Network:
    """The weights of a model of Llama's build (Qwen2 too), computed over packed tokens."""

    def __init__(self, model: Any, blocks: int, graphs: bool = True) -> None:
        config = model.config
        self.heads, self.shared = config.num_attention_heads, config.num_key_value_heads
        self.size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.epsilon, self.window = config.rms_norm_eps, config.max_position_embeddings
        self.embeddings, self.head = model.model.embed_tokens.weight, model.lm_head.weight
        self.device, self.dtype = self.embeddings.device, self.embeddings.dtype
        self.norm = model.model.norm.weight
        self.layers = [_layer(layer) for layer in model.model.layers]
        angles = torch.outer(
            torch.arange(self.window, device=self.device).float(),
            model.model.rotary_emb.inv_freq.to(self.device).float(),
        )
        angles = torch.cat([angles, angles], -1)
        self.cosines, self.sines = angles.cos().to(self.dtype), angles.sin().to(self.dtype)
        shape = (len(self.layers), blocks, BLOCK, self.shared, self.size)
        self.keys = torch.zeros(shape, dtype=self.dtype, device=self.device)
        self.values = torch.zeros_like(self.keys)
        self._record = graphs and self.device.type == "cuda"
        self._graphs: dict[tuple[int, int], _Graph] = {}
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every new shape

    def round(self, rows: Sequence["Row"]) -> torch.Tensor:
        """Feeds what is new of every row; the logits after the last token of each."""
        longest = max(len(row.blocks) for row in rows)
        alone = all(row.pending == 1 for row in rows)
        few = len(rows) <= GRAPH_ROWS[-1] and longest <= GRAPH_BLOCKS[-1]
        if self._record and alone and few:
            return self._by_graph(rows, longest)
        spans = [np.arange(row.computed, row.length) for row in rows]
        tokens = np.concatenate([np.array(row.tokens[row.computed :]) for row in rows])
        slots = np.concatenate([row.slots(span) for row, span in zip(rows, spans, strict=True)])
        ends = np.cumsum([row.pending for row in rows])
        starts = ends - [row.pending for row in rows]
        groups = [
            self._group([rows[n] for n in chosen], starts[chosen]) for chosen in self._grouped(rows)
        ]
        positions = np.concatenate(spans)
        return self._compute(
            self._on(tokens), self._on(positions), self._on(slots), groups, self._on(ends - 1)
        )

    def _on(self, numbers: np.ndarray) -> torch.Tensor:
        made = torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64))
        if self.device.type == "cuda":
            return made.pin_memory().to(self.device, non_blocking=True)
        return made

    def _grouped(self, rows: Sequence["Row"]) -> list[list[int]]:
        """Rows by how much they feed and how far back they look, so that little is padding."""
        order = sorted(range(len(rows)), key=lambda n: (rows[n].pending, rows[n].length))
        groups: list[list[int]] = []
        fewest, longest = 0, 0
        for n in order:
            row = rows[n]
            longest = max(longest, row.length)
            share = (len(groups[-1]) + 1 if groups else 1) * self.heads // self.shared
            fits = groups and share * row.pending * longest <= MASK_NUMBERS
            if not fits or row.pending > 1.25 * fewest + 8:
                groups.append([])
                fewest, longest = row.pending, row.length
            groups[-1].append(n)
        return groups

    def _group(self, rows: Sequence["Row"], starts: np.ndarray) -> Group:
        pending = np.array([row.pending for row in rows])
        count = np.arange(pending.max())
        deep = max(-(-row.length // BLOCK) for row in rows)
        queries = starts[:, None] + np.minimum(count, pending[:, None] - 1)
        blocks = np.array([(row.blocks + [SCRATCH] * deep)[:deep] for row in rows])
        real = count < pending[:, None]
        padded = np.flatnonzero(real)
        return Group(self._on(queries), self._on(blocks), self._on(queries[real]), self._on(padded))

    def _compute(
        self,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        slots: torch.Tensor,
        groups: Sequence[Group],
        last: torch.Tensor,
    ) -> torch.Tensor:
        masks = [self._mask(positions, group) for group in groups]
        cosines, sines = self.cosines[positions][:, None], self.sines[positions][:, None]
        stream = self.embeddings[tokens]
        own, shared = self.heads * self.size, self.shared * self.size
        for number, layer in enumerate(self.layers):
            seen = functional.rms_norm(stream, (stream.shape[-1],), layer.before, self.epsilon)
            mixed = functional.linear(seen, layer.mix, layer.mix_bias)
            q, k, v = mixed.split([own, shared, shared], -1)
            q = _turned(q.view(-1, self.heads, self.size), cosines, sines)
            k = _turned(k.view(-1, self.shared, self.size), cosines, sines)
            self.keys[number].view(-1, self.shared, self.size)[slots] = k
            self.values[number].view(-1, self.shared, self.size)[slots] = v.view_as(k)
            told = stream.new_empty((len(stream), own))
            for group, mask in zip(groups, masks, strict=True):
                told[group.places] = self._attend(number, q, group, mask)[group.padded]
            stream = stream + functional.linear(told, layer.out, layer.out_bias)
            seen = functional.rms_norm(stream, (stream.shape[-1],), layer.after, self.epsilon)
            gate, up = functional.linear(seen, layer.widen).chunk(2, -1)
            stream = stream + functional.linear(functional.silu(gate) * up, layer.narrow)
        ends = functional.rms_norm(stream[last], (stream.shape[-1],), self.norm, self.epsilon)
        return functional.linear(ends, self.head)

    def _mask(self, positions: torch.Tensor, group: Group) -> torch.Tensor:
        """A token sees those before it and itself."""
        columns = torch.arange(group.blocks.shape[1] * BLOCK, device=self.device)
        hidden = columns > positions[group.queries][..., None]
        bias = torch.zeros(hidden.shape, dtype=self.dtype, device=self.device)
        bias.masked_fill_(hidden, float("-inf"))
        # All query heads that share a key head stand in one line, so keys are never copied.
        return bias.repeat(1, self.heads // self.shared, 1)[:, None]

    def _attend(
        self, number: int, q: torch.Tensor, group: Group, mask: torch.Tensor
    ) -> torch.Tensor:
        rows, most = group.queries.shape
        apart = q[group.queries].view(rows, most, self.shared, -1, self.size)
        lined = apart.permute(0, 2, 3, 1, 4).reshape(rows, self.shared, -1, self.size)
        flat = (rows, -1, self.shared, self.size)
        keys = self.keys[number][group.blocks].view(flat).transpose(1, 2)
        values = self.values[number][group.blocks].view(flat).transpose(1, 2)
        out = functional.scaled_dot_product_attention(lined, keys, values, attn_mask=mask)
        out = out.view(rows, self.shared, -1, most, self.size).permute(0, 3, 1, 2, 4)
        return out.reshape(rows * most, -1)

    def _by_graph(self, rows: Sequence["Row"], longest: int) -> torch.Tensor:
        """Few rows that write one token each: launching the kernels one by one takes longest."""
        shape = (
            next(n for n in GRAPH_ROWS if n >= len(rows)),
            next(n for n in GRAPH_BLOCKS if n >= longest),
        )
        if shape not in self._graphs:
            self._graphs[shape] = _Graph(self, *shape)
        return self._graphs[shape].run(rows)


def block_bytes(config: Any, dtype: torch.dtype) -> int:
    """What one block of the pool takes."""
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    numbers = config.num_hidden_layers * BLOCK * config.num_key_value_heads * size
    return 2 * numbers * dtype.itemsize


class _Graph:
    """One recorded round for so many rows of at most so many blocks."""

    def __init__(self, network: Network, rows: int, blocks: int) -> None:
        self._network, self._blocks = network, blocks
        self._numbers = torch.zeros((rows, 3 + blocks), dtype=torch.long, device=network.device)
        count = torch.arange(rows, device=network.device)
        group = Group(count[:, None], self._numbers[:, 3:], count, count)

        def work() -> torch.Tensor:
            tokens, positions, slots = self._numbers[:, :3].unbind(1)
            return network._compute(tokens, positions, slots, [group], count)

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            work()  # once, so that libraries have made their workspaces
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._logits = work()

    def run(self, rows: Sequence["Row"]) -> torch.Tensor:
        numbers = np.zeros(self._numbers.shape, dtype=np.int64)
        for line, row in zip(numbers, rows, strict=False):
            line[:2] = row.tokens[-1], row.computed
            line[2] = row.slots(np.array(row.computed))
            line[3 : 3 + len(row.blocks)] = row.blocks
        self._numbers.copy_(torch.from_numpy(numbers))
        self._graph.replay()
        return self._logits[: len(rows)]


@dataclass(frozen=True, slots=True)
class _Layer:
    before: torch.Tensor
    mix: torch.Tensor
    mix_bias: torch.Tensor | None
    out: torch.Tensor
    out_bias: torch.Tensor | None
    after: torch.Tensor
    widen: torch.Tensor
    narrow: torch.Tensor


def _layer(layer: Any) -> _Layer:
    heads, wide = layer.self_attn, layer.mlp
    parts = (heads.q_proj, heads.k_proj, heads.v_proj)
    biased = parts[0].bias is not None
    return _Layer(
        layer.input_layernorm.weight,
        torch.cat([part.weight for part in parts]),
        torch.cat([part.bias for part in parts]) if biased else None,
        heads.o_proj.weight,
        heads.o_proj.bias,
        layer.post_attention_layernorm.weight,
        torch.cat([wide.gate_proj.weight, wide.up_proj.weight]),
        wide.down_proj.weight,
    )


def _turned(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    left, right = x.chunk(2, -1)
    return x * cosines + torch.cat([-right, left], -1) * sines


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
