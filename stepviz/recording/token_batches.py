"""Batches of tokens of which not every one counts: prompts, padding, several documents in a row."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import torch

from stepviz.recording.options import Options
from stepviz.recording.tethers import end_with_parent

#: What the loss leaves out.
IGNORED = -100
#: More rows than any run takes.
_ENDLESS = 2**40

data: Any = torch.utils.data


class Rows(data.Dataset):  # type: ignore[misc]  # untyped, as in gpt
    """Rows made when they are asked for, the same ones for the same seed and rank."""

    def __init__(self, options: Options, rank: int) -> None:
        self.options = options
        self.rank = rank

    def __len__(self) -> int:
        return _ENDLESS

    def __getitem__(self, place: int) -> dict[str, Any]:
        """Return one row: tokens, labels (−100 where not scored), places, and its counts."""
        asked = self.options
        length = asked.sequence
        seed = ((asked.seed * 1_000_003 + self.rank) * 1_000_003 + place) % 2**63
        tokens = torch.randint(
            asked.vocabulary, (length,), generator=torch.Generator().manual_seed(seed)
        )
        real = max(2, round(length * (1 - asked.padding_fraction)))
        # Every row in so many holds two documents, evenly spread.
        share = asked.packing_fraction
        packed = int((place + 1) * share) > int(place * share) and real >= 4
        lengths = [real // 2, real - real // 2] if packed else [real]
        labels = torch.full((length,), IGNORED)
        places = torch.zeros(length, dtype=torch.long)
        start = 0
        for one in lengths:
            prompt = min(one - 1, max(1, round(one * asked.prompt_fraction)))
            labels[start + prompt : start + one] = tokens[start + prompt : start + one]
            places[start : start + one] = torch.arange(one)
            start += one
        return {
            "input_ids": tokens,
            "labels": labels,
            "position_ids": places,
            "counts": {
                "allocated": length,
                "real": real,
                "executed": length,  # the kernels run over padding too
                "scored": int((labels[1:] != IGNORED).sum()),
                "sequences": len(lengths),
                "squared_lengths": sum(one**2 for one in lengths),
            },
        }


class Collate:
    """Rows into a batch, as late as the options say."""

    def __init__(self, delay_ms: float) -> None:
        self.delay_ms = delay_ms

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Return tensors of rows, and their counts added up."""
        if self.delay_ms:
            time.sleep(self.delay_ms / 1e3)
        batch: dict[str, Any] = {
            name: torch.stack([row[name] for row in rows])
            for name in ("input_ids", "labels", "position_ids")
        }
        batch["counts"] = {
            name: sum(row["counts"][name] for row in rows) for name in rows[0]["counts"]
        }
        return batch


def _tethered(_: int) -> None:
    end_with_parent()


def batches(options: Options, rank: int, *, pinned: bool) -> Iterator[dict[str, Any]]:
    """Return an endless iterator of batches."""
    several: dict[str, Any] = {}
    if options.workers:
        several = {"prefetch_factor": options.prefetch, "worker_init_fn": _tethered}
    loader = data.DataLoader(
        Rows(options, rank),
        batch_size=options.microbatch,
        num_workers=options.workers,
        collate_fn=Collate(options.input_delay_ms),
        pin_memory=pinned,
        **several,
    )
    found: Iterator[dict[str, Any]] = iter(loader)
    return found
