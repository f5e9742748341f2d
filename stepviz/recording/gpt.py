"""The model that the benchmark trains: small, GPT-like, and slow on purpose where it is told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from stepviz.recording.options import Options

nn: Any = torch.nn  # untyped, so that checks say the same with torch and without


class Block(nn.Module):  # type: ignore[misc]  # as above
    """Attention and a feed-forward net, each beside a residual path."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """Return what goes into the next block."""
        batch, length, _ = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Model(nn.Module):  # type: ignore[misc]  # as above
    """Tokens in, the loss of the next ones out."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        width = options.width
        self.words = nn.Embedding(options.vocabulary, width)
        self.places = nn.Embedding(options.sequence, width)
        self.blocks = nn.ModuleList([Block(width, options.heads) for _ in range(options.layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, options.vocabulary)
        self.checkpointing = options.checkpointing
        self.pause: Callable[[], None] = lambda: None

    def forward(self, input_ids: Any, labels: Any, position_ids: Any) -> Any:
        """Return the mean loss over the targets that are scored."""
        x = self.words(input_ids) + self.places(position_ids)
        for place, block in enumerate(self.blocks):
            if place == len(self.blocks) // 2:
                self.pause()  # here and not in the block, which checkpointing runs again
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointing else block(x)
        logits = self.head(self.norm(x))
        return nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=-100
        )

    def slow_down(self, phase: str, sleep: Callable[[], None]) -> None:
        """Sleep in the middle of this model's forward or backward."""
        if phase == "forward":
            self.pause = sleep
        elif phase == "backward":
            middle = self.blocks[len(self.blocks) // 2]
            middle.register_full_backward_hook(lambda *_: sleep())
