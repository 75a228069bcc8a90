"""The arithmetic of a transformer of Llama's build, over packed tokens and a pool of blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from bench.decoder import Row

BLOCK = 16  # tokens
SCRATCH = 0  # a block that belongs to nobody: what is written there is never read
MASK_NUMBERS = 1 << 30  # in the mask of one attention call, at most


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of similar length whose attention is computed together."""

    queries: torch.Tensor  # rows × longest: places in the packed tokens, padded
    blocks: torch.Tensor  # rows × most blocks, padded
    places: torch.Tensor  # of this group's tokens in the packed ones ...
    padded: torch.Tensor  # ... and among the padded queries


class Network:
    """The weights of a model of Llama's build (Qwen2 too), computed over packed tokens."""

    def __init__(self, model: Any, blocks: int) -> None:
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
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every new shape

    def round(self, rows: Sequence["Row"]) -> torch.Tensor:
        """Feeds what is new of every row; the logits after the last token of each."""
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


def block_bytes(config: Any, dtype: torch.dtype) -> int:
    """What one block of the pool takes."""
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    numbers = config.num_hidden_layers * BLOCK * config.num_key_value_heads * size
    return 2 * numbers * dtype.itemsize


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
