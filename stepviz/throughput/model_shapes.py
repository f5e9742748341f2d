"""What a transformer's FLOPs and parameters depend on, in one description."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, Final

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import flag, listed, one_number, real, whole
from stepviz.throughput.figures import card, number_text
from stepviz.throughput.hf_configs import read_config
from stepviz.throughput.matmul_weights import Weight, weights_of

_AT_LEAST_ONE: Final = ("layers", "hidden", "heads", "vocab", "kv_heads", "head_dim", "value_dim")
_COUNTS: Final = (
    "ffn",
    "experts",
    "top_k",
    "expert_ffn",
    "shared_ffn",
    "moe_layers",
    "query_rank",
    "kv_rank",
    "rope_dim",
    "other_parameters",
    "other_expert_parameters",
    "lora_parameters",
)


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelShape:
    """A decoder-only transformer, as far as its parameters and FLOPs depend on it.

    Parameters
    ----------
    layers, hidden, heads, vocab : int
        Blocks; width of the residual stream; query heads; rows of the embedding table, padded as
        it is stored.
    kv_heads : int, optional
        Key and value heads; as many as `heads` unless given.
    head_dim, value_dim : int, optional
        Width of a head's queries and keys, hidden ÷ heads unless given; of its values, the same
        unless given.
    ffn : int, optional
        Width of the feed-forward layer, 4 × hidden unless given.
    gated : bool
        Whether the feed-forward layer has three matrices (SwiGLU, GeGLU) instead of two.
    tied : bool
        Whether the language head is the embedding table.
    experts, top_k, expert_ffn, shared_ffn, moe_layers : int, optional
        Routed experts of a mixture, those that one token runs through, their width (that of `ffn`
        unless given), the width of all shared experts together, and how many layers are mixtures
        (all unless given).
    shared_gate : bool
        Whether shared experts have a gate of hidden × 1.
    windows : int or sequence of int or None, optional
        Keys that a position sees: of every layer, or layer by layer, None for all.
    query_rank, kv_rank, rope_dim : int
        Of multi-head latent attention: ranks of the compressed queries, of keys and values, and
        width of the shared rotary key.
    other_parameters : int, optional
        What no matrix multiplication uses: norms, biases, learned positions. Unless given, two
        norms of one vector per layer and one at the end.
    other_expert_parameters : int
        Those of the above that belong to routed experts.
    lora_parameters : int
        Trained adapter weights while all others are frozen; see `with_lora`.
    stated_parameters : int, optional
        A published count, to use as `parameters` instead of the computed one.
    name : str
        What the model is called.

    Raises
    ------
    ThroughputError
        A number that is none or contradicts another.

    Examples
    --------
    >>> llama = ModelShape(
    ...     layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
    ... )
    >>> llama.parameters, llama.matmul_parameters
    (8030261248, 7504658432)
    """

    layers: int
    hidden: int
    heads: int
    vocab: int
    kv_heads: int = 0
    head_dim: int = 0
    value_dim: int = 0
    ffn: int = -1
    gated: bool = False
    tied: bool = False
    experts: int = 0
    top_k: int = 0
    expert_ffn: int = 0
    shared_ffn: int = 0
    shared_gate: bool = False
    moe_layers: int = -1
    windows: int | tuple[int | None, ...] | None = None
    query_rank: int = 0
    kv_rank: int = 0
    rope_dim: int = 0
    other_parameters: int = -1
    other_expert_parameters: int = 0
    lora_parameters: int = 0
    stated_parameters: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Fill in what follows from the rest, and check it."""
        for name in ("layers", "hidden", "heads", "vocab"):
            self._set(name, whole(getattr(self, name), name, least=1))
        for name in ("gated", "tied", "shared_gate"):
            self._set(name, flag(getattr(self, name), name))
        self._default("experts", 0)
        self._set("experts", whole(self.experts, "experts"))
        self._default("head_dim", 0)
        self._set("head_dim", whole(self.head_dim, "head_dim"))
        if not self.head_dim and self.hidden % self.heads:
            msg = (
                f"hidden {self.hidden} is no multiple of {self.heads} heads: give head_dim, the "
                "width of a head"
            )
            raise ThroughputError(msg)
        self._default("kv_heads", self.heads)
        self._default("head_dim", self.hidden // self.heads)
        self._default("value_dim", self.head_dim)
        self._default("ffn", 4 * self.hidden, unset=-1)
        self._default("expert_ffn", self.ffn if self.experts else 0)
        self._default("moe_layers", self.layers if self.experts else 0, unset=-1)
        self._default("other_parameters", (2 * self.layers + 1) * self.hidden, unset=-1)
        for name in _AT_LEAST_ONE:
            self._set(name, whole(getattr(self, name), name, least=1))
        for name in _COUNTS:
            self._set(name, whole(getattr(self, name), name))
        if self.stated_parameters is not None:
            self._set(
                "stated_parameters", whole(self.stated_parameters, "stated_parameters", least=1)
            )
        self._set("windows", self._each_window())
        self._check()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _default(self, name: str, value: int, *, unset: int = 0) -> None:
        given = one_number(getattr(self, name))
        plain = isinstance(given, Real) and not isinstance(given, bool)
        if given is None or (plain and given == unset):
            self._set(name, value)

    def _each_window(self) -> tuple[int | None, ...] | None:
        given = one_number(self.windows)
        if given is None:
            return None
        each = tuple(given) if isinstance(given, Iterable) else (given,) * self.layers
        if len(each) != self.layers:
            msg = f"windows names {len(each)} layers of {self.layers}: give one per layer, or one"
            raise ThroughputError(msg)
        checked = tuple(None if w is None else whole(w, "windows", least=1) for w in each)
        return None if all(window is None for window in checked) else checked

    def _check(self) -> None:
        if self.heads % self.kv_heads:
            msg = (
                f"{self.heads} heads cannot share {self.kv_heads} kv_heads evenly: give kv_heads, "
                f"a divisor of {self.heads}"
            )
            raise ThroughputError(msg)
        if self.experts and not 1 <= self.top_k <= self.experts:
            msg = f"top_k is {self.top_k} of {self.experts} experts: give from 1 to all of them"
            raise ThroughputError(msg)
        if not self.experts and (self.top_k or self.moe_layers or self.shared_ffn):
            msg = "top_k, moe_layers and shared_ffn belong to a mixture: give experts too"
            raise ThroughputError(msg)
        if self.moe_layers > self.layers:
            msg = f"{self.moe_layers} moe_layers of {self.layers} layers: give at most all of them"
            raise ThroughputError(msg)
        if self.rope_dim > self.head_dim:
            msg = f"rope_dim {self.rope_dim} is part of head_dim, so give at most {self.head_dim}"
            raise ThroughputError(msg)

    @classmethod
    def from_config(cls, config: Any, **changes: Any) -> ModelShape:
        """Read a Hugging Face `config.json`.

        Parameters
        ----------
        config : dict, path, or a transformers configuration
            Its content, the file, or the folder that holds it.
        **changes
            Fields to set otherwise, such as `vocab` where the stored table is padded further. What
            follows from them, such as the norms of `layers`, follows.

        Raises
        ------
        ThroughputError
            A kind of model whose formula is not known here (there is then no MFU), a missing
            entry, or a file that cannot be read.

        Examples
        --------
        >>> ModelShape.from_config(
        ...     {
        ...         "model_type": "llama",
        ...         "num_hidden_layers": 32,
        ...         "hidden_size": 4096,
        ...         "num_attention_heads": 32,
        ...         "num_key_value_heads": 8,
        ...         "intermediate_size": 14336,
        ...         "vocab_size": 128256,
        ...     }
        ... ).parameters
        8030261248
        """
        if hasattr(config, "to_dict"):
            config = config.to_dict()
        if not isinstance(config, Mapping | str | os.PathLike):
            msg = (
                f"config is {type(config).__name__}: a config is a dict or the path of a "
                "config.json, so give one of these"
            )
            raise ThroughputError(msg)
        known = [field.name for field in fields(cls)]
        for name in changes:
            if name not in known:
                msg = f"a shape has no {name!r}: {near(name, known)}"
                raise ThroughputError(msg)
        return cls(**{**read_config(config, changes), **changes})

    # What follows

    @cached_property
    def weights(self) -> list[Weight]:
        """Every matrix of the model."""
        return weights_of(self)

    @property
    def embedding_parameters(self) -> int:
        """Weights of the embedding table, vocab × hidden."""
        return self.vocab * self.hidden

    @cached_property
    def matmul_parameters(self) -> int:
        """Weights of all stored matrices, the head included even where it is the embedding."""
        return sum(weight.parameters for weight in self.weights)

    @cached_property
    def active_matmul_parameters(self) -> int:
        """Weights that one token is multiplied with: of the experts only its own."""
        return sum(weight.active_parameters for weight in self.weights)

    @property
    def parameters(self) -> int:
        """All weights, each counted once; `stated_parameters` where given."""
        if self.stated_parameters is not None:
            return self.stated_parameters
        table = 0 if self.tied else self.embedding_parameters
        return self.matmul_parameters + table + self.other_parameters

    @property
    def active_parameters(self) -> int:
        """All weights but those of experts that a token does not run through."""
        idle = self.matmul_parameters - self.active_matmul_parameters
        if self.experts:
            idle += self.other_expert_parameters * (self.experts - self.top_k) // self.experts
        return self.parameters - idle

    def attended(self, sequence: float, *, windowed: bool = False) -> float:
        """Return the keys that a position meets, summed over layers, without a causal mask.

        Parameters
        ----------
        sequence : float
            Length of the sequence.
        windowed : bool
            Whether a layer's window bounds it.
        """
        sequence = real(sequence, "sequence", above=0)
        if not windowed or not isinstance(self.windows, tuple):
            return self.layers * sequence
        return sum(sequence if w is None else min(w, sequence) for w in self.windows)

    def attention_flops(self, sequence: float, *, windowed: bool = False) -> float:
        """Return FLOPs per token of scores and weighted values, forward, without a causal mask.

        2 × heads × (head_dim + value_dim) × keys, which is 4·L·H·Q·T where both widths are Q.
        """
        width = self.heads * (self.head_dim + self.value_dim)
        return 2 * width * self.attended(sequence, windowed=windowed)

    def with_lora(self, rank: int, targets: Iterable[str] = ("query", "value")) -> ModelShape:
        """Return this model, frozen, with trained adapters of hidden × rank beside some matrices.

        Parameters
        ----------
        rank : int
            0 for the limit of no adapter.
        targets : iterable of str
            Names of matrices, as in `weights`.

        Raises
        ------
        ThroughputError
            A name that no matrix bears.
        """
        rank = whole(rank, "rank")
        named = {weight.name: weight for weight in self.weights}
        total = 0
        for target in listed(targets, "targets"):
            if target not in named:
                msg = f"no matrix is called {target!r}: {near(target, named, most=12)}"
                raise ThroughputError(msg)
            weight = named[target]
            total += rank * (weight.into + weight.out) * weight.stored
        return replace(self, lora_parameters=total)

    def __repr__(self) -> str:
        set_ = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) not in (None, "", 0, False)
        ]
        return f"ModelShape({', '.join(set_)})"

    def _repr_html_(self) -> str:
        rows = [
            ("parameters", f"{self.parameters:,}"),
            ("in matrix multiplications", f"{self.matmul_parameters:,}"),
        ]
        if self.experts:
            rows += [
                ("active parameters", f"{self.active_parameters:,}"),
                ("of them in matrix multiplications", f"{self.active_matmul_parameters:,}"),
            ]
        rows += [
            ("layers, hidden, heads", f"{self.layers}, {self.hidden}, {self.heads}"),
            ("embedding", f"{number_text(self.embedding_parameters)} ({self.vocab:,} rows)"),
        ]
        return card(self.name or "Model", rows)
