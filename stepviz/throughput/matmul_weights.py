"""The matrices of a model: how large each is, how many are stored, how many a token runs through.

This list is the ground truth that every closed form is compared with. A token that meets a matrix
of `into` × `out` costs 2 × into × out FLOPs forward, and twice that backward: once for the
gradient of the input and once for that of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepviz.throughput.model_shapes import ModelShape


@dataclass(frozen=True)
class Weight:
    """A matrix that occurs more than once.

    Parameters
    ----------
    name : str
    part : {"attention", "ffn", "router", "experts", "shared", "head"}
    into, out : int
        Its two widths.
    stored : int
        How many there are in the whole model.
    active : int
        How many of them one token is multiplied with.
    """

    name: str
    part: str
    into: int
    out: int
    stored: int
    active: int

    @property
    def parameters(self) -> int:
        """Weights of all that are stored."""
        return self.into * self.out * self.stored

    @property
    def active_parameters(self) -> int:
        """Weights of those that a token meets."""
        return self.into * self.out * self.active


def weights_of(shape: ModelShape) -> list[Weight]:
    """Return every matrix of a model, its language head included, its embedding table not."""
    dense = shape.layers - shape.moe_layers
    found = _attention(shape)
    found += _ffn("ffn", shape, shape.ffn, dense, dense)
    if shape.moe_layers:
        layers = shape.moe_layers
        found.append(Weight("router", "router", shape.hidden, shape.experts, layers, layers))
        found += _ffn(
            "experts",
            shape,
            shape.expert_ffn,
            layers * shape.experts,
            layers * shape.top_k,
        )
        found += _ffn("shared", shape, shape.shared_ffn, layers, layers)
        if shape.shared_gate:
            found.append(Weight("shared gate", "shared", shape.hidden, 1, layers, layers))
    found.append(Weight("head", "head", shape.hidden, shape.vocab, 1, 1))
    return [weight for weight in found if weight.parameters]


def _attention(shape: ModelShape) -> list[Weight]:
    layers = shape.layers
    queries = shape.heads * shape.head_dim
    values = shape.heads * shape.value_dim

    def every(name: str, into: int, out: int) -> Weight:
        return Weight(name, "attention", into, out, layers, layers)

    if shape.query_rank:
        found = [
            every("query down", shape.hidden, shape.query_rank),
            every("query up", shape.query_rank, queries),
        ]
    else:
        found = [every("query", shape.hidden, queries)]
    if shape.kv_rank:
        # multi-head latent attention: keys and values from one small vector, plus a shared
        # rotary part of the key
        plain = shape.head_dim - shape.rope_dim
        found += [
            every("key and value down", shape.hidden, shape.kv_rank + shape.rope_dim),
            every("key and value up", shape.kv_rank, shape.heads * (plain + shape.value_dim)),
        ]
    else:
        found += [
            every("key", shape.hidden, shape.kv_heads * shape.head_dim),
            every("value", shape.hidden, shape.kv_heads * shape.value_dim),
        ]
    return [*found, every("output", values, shape.hidden)]


def _ffn(part: str, shape: ModelShape, width: int, stored: int, active: int) -> list[Weight]:
    names = ("gate", "up") if shape.gated else ("up",)
    into = [Weight(f"{part} {name}", part, shape.hidden, width, stored, active) for name in names]
    return [*into, Weight(f"{part} down", part, width, shape.hidden, stored, active)]
