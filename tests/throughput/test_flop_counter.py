"""The per-matmul count against what torch counts while real modules run."""

from __future__ import annotations

import pytest

import stepviz as sv

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402  # after the check that it is there
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

ROWS, LENGTH = 2, 24


class Adapted(nn.Module):
    """A frozen matrix with a trained adapter beside it."""

    def __init__(self, into, out, rank):
        super().__init__()
        self.base = nn.Linear(into, out, bias=False)
        self.base.weight.requires_grad_(requires_grad=False)
        self.down = nn.Linear(into, rank, bias=False)
        self.up = nn.Linear(rank, out, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Attention(nn.Module):
    def __init__(self, s, linear):
        super().__init__()
        self.s = s
        self.query = linear("query", s.hidden, s.heads * s.head_dim)
        self.key = linear("key", s.hidden, s.kv_heads * s.head_dim)
        self.value = linear("value", s.hidden, s.kv_heads * s.head_dim)
        self.output = linear("output", s.heads * s.head_dim, s.hidden)

    def forward(self, x):
        s = self.s
        rows, length, _ = x.shape

        def heads(y, n):
            return y.view(rows, length, n, s.head_dim).transpose(1, 2)

        q = heads(self.query(x), s.heads)
        k = heads(self.key(x), s.kv_heads).repeat_interleave(s.heads // s.kv_heads, 1)
        v = heads(self.value(x), s.kv_heads).repeat_interleave(s.heads // s.kv_heads, 1)
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores = (q @ k.transpose(2, 3)).masked_fill(~mask, -1e9)
        mixed = scores.softmax(-1) @ v
        return self.output(mixed.transpose(1, 2).reshape(rows, length, -1))


class Latent(nn.Module):
    """Multi-head latent attention, as DeepSeek trains it."""

    def __init__(self, s, linear):
        super().__init__()
        self.s = s
        plain = s.head_dim - s.rope_dim
        self.query_down = linear("query down", s.hidden, s.query_rank)
        self.query_up = linear("query up", s.query_rank, s.heads * s.head_dim)
        self.down = linear("key and value down", s.hidden, s.kv_rank + s.rope_dim)
        self.up = linear("key and value up", s.kv_rank, s.heads * (plain + s.value_dim))
        self.output = linear("output", s.heads * s.value_dim, s.hidden)

    def forward(self, x):
        s = self.s
        rows, length, _ = x.shape
        plain = s.head_dim - s.rope_dim
        q = self.query_up(self.query_down(x)).view(rows, length, s.heads, s.head_dim)
        small, rope = self.down(x).split([s.kv_rank, s.rope_dim], -1)
        k, v = self.up(small).view(rows, length, s.heads, -1).split([plain, s.value_dim], -1)
        rope = rope[:, :, None].expand(-1, -1, s.heads, -1)
        k = torch.cat([k, rope], -1)
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        mixed = (q @ k.transpose(2, 3)).softmax(-1) @ v
        return self.output(mixed.transpose(1, 2).reshape(rows, length, -1))


class Ffn(nn.Module):
    def __init__(self, s, linear, width, part="ffn"):
        super().__init__()
        names = ("gate", "up") if s.gated else ("up",)
        self.into = nn.ModuleList(linear(f"{part} {n}", s.hidden, width) for n in names)
        self.down = linear(f"{part} down", width, s.hidden)

    def forward(self, x):
        first, *gate = [layer(x) for layer in self.into]
        return self.down(nn.functional.silu(first) * gate[0] if gate else first.relu())


class Mixture(nn.Module):
    """Each token through its own experts: gathered, run, scattered."""

    def __init__(self, s, linear):
        super().__init__()
        self.s = s
        self.router = linear("router", s.hidden, s.experts)
        self.experts = nn.ModuleList(
            Ffn(s, linear, s.expert_ffn, "experts") for _ in range(s.experts)
        )
        self.shared = Ffn(s, linear, s.shared_ffn, "shared") if s.shared_ffn else None

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = self.router(flat).softmax(-1).topk(self.s.top_k, -1)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            token, slot = (chosen == number).nonzero(as_tuple=True)
            out = out.index_add(0, token, expert(flat[token]) * weights[token, slot, None])
        if self.shared is not None:
            out = out + self.shared(flat)
        return out.view_as(x)


class Model(nn.Module):
    def __init__(self, s, linear):
        super().__init__()
        self.table = nn.Embedding(s.vocab, s.hidden)
        dense = s.layers - s.moe_layers
        self.blocks = nn.ModuleList(
            nn.ModuleList(
                [
                    (Latent if s.kv_rank else Attention)(s, linear),
                    Ffn(s, linear, s.ffn) if i < dense else Mixture(s, linear),
                ]
            )
            for i in range(s.layers)
        )
        self.head = linear("head", s.hidden, s.vocab)
        if s.tied:
            self.head.weight = self.table.weight

    def forward(self, ids):
        x = self.table(ids)
        if not x.requires_grad:
            x.requires_grad_()  # as trainers do that checkpoint activations of a frozen model
        for attention, ffn in self.blocks:
            x = x + attention(nn.functional.layer_norm(x, x.shape[-1:]))
            x = x + ffn(nn.functional.layer_norm(x, x.shape[-1:]))
        return self.head(x)


def plain(_, into, out):
    return nn.Linear(into, out, bias=False)


def flops_of(model):
    torch.manual_seed(0)
    ids = torch.randint(0, 50, (ROWS, LENGTH))
    with FlopCounterMode(display=False) as counter:
        model(ids).square().mean().backward()
    return counter.get_total_flops()


SMALL = {"layers": 3, "hidden": 64, "heads": 8, "vocab": 50}
SHAPES = {
    "gpt": {**SMALL, "tied": True},
    "grouped keys, gated": {**SMALL, "kv_heads": 2, "ffn": 100, "gated": True},
    "wide heads": {**SMALL, "head_dim": 24, "ffn": 100},
    "mixture": {
        **SMALL,
        "gated": True,
        "experts": 4,
        "top_k": 2,
        "expert_ffn": 40,
        "shared_ffn": 56,
        "moe_layers": 2,
    },
    "latent attention": {
        **SMALL,
        "head_dim": 24,
        "value_dim": 16,
        "query_rank": 20,
        "kv_rank": 12,
        "rope_dim": 8,
    },
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_real_module_runs_the_counted_flops(name):
    shape = sv.ModelShape(**SHAPES[name])
    model = Model(shape, plain)
    counted = ROWS * LENGTH * sv.flops_per_token(shape, "matmul", LENGTH)
    assert flops_of(model) == counted
    table = sv.matmuls(shape, LENGTH)
    assert ROWS * LENGTH * table[["forward", "backward"]].to_numpy().sum() == counted
    held = sum(p.numel() for p in model.parameters())
    assert held == shape.parameters - shape.other_parameters


def test_adapters_on_a_frozen_model():
    shape = sv.ModelShape(**SHAPES["grouped keys, gated"]).with_lora(4, ["query", "value"])

    def adapted(name, into, out):
        if name in ("query", "value"):
            return Adapted(into, out, 4)
        layer = nn.Linear(into, out, bias=False)
        layer.weight.requires_grad_(requires_grad=False)
        return layer

    model = Model(shape, adapted)
    model.table.weight.requires_grad_(requires_grad=False)
    table = sv.matmuls(shape, LENGTH)
    right = ROWS * LENGTH * table[["forward", "backward"]].to_numpy().sum()
    assert flops_of(model) == right
    full = 1.5 * shape.attention_flops(LENGTH)  # the convention takes half of attention
    assert right == ROWS * LENGTH * (sv.flops_per_token(shape, "lora", LENGTH) + full)


def test_full_recomputation_of_the_blocks():
    from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

    shape = sv.ModelShape(**SHAPES["grouped keys, gated"])
    model = Model(shape, plain)

    class Again(nn.Module):
        def forward(self, ids):
            x = model.table(ids)
            for block in model.blocks:
                x = checkpoint(self.block, block, x, use_reentrant=False)
            return model.head(x)

        def block(self, parts, x):
            attention, ffn = parts
            x = x + attention(x)
            return x + ffn(x)

    table = sv.matmuls(shape, LENGTH)
    blocks = table[table["part"] != "head"]
    once = table[["forward", "backward"]].to_numpy().sum()
    with set_checkpoint_early_stop(False):  # else a block's last product is not computed again
        found = flops_of(Again())
    assert found == ROWS * LENGTH * (once + blocks["forward"].sum())
    assert once + blocks["forward"].sum() == pytest.approx(
        4 / 3 * blocks[["forward", "backward"]].to_numpy().sum()
        + table.loc["head", ["forward", "backward"]].sum()
    )
