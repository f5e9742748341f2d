"""Sizes of a job that are multiplied in, or left out, by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Size:
    """One of them.

    Parameters
    ----------
    key : str
        Its name in a setup.
    name : str
        In words.
    times, over : str
        What would have happened where the number is that many times too high, or too low.
    confirm : str
        What would show it.
    evidence : str
        Where it was seen.
    """

    key: str
    name: str
    times: str
    over: str
    confirm: str
    evidence: str


SIZES: Final = (
    Size(
        "accumulation",
        "accumulation",
        "an update's tokens over one microbatch's time",
        "one microbatch's tokens over an update's time",
        "time from one optimizer step to the next, and count all microbatches between",
        "NeMo #12727 (×4); nanochat #175, Axolotl #3688, Composer #271 (÷)",
    ),
    Size(
        "logging_steps",
        "logging interval",
        "the tokens of all steps since the last log over one step's time",
        "one step's tokens over the time since the last log",
        "log every step once, and compare",
        "Axolotl #3688",
    ),
    Size(
        "world",
        "world size",
        "the rate of all devices, read as that of one",
        "the rate of one device, read as that of all",
        "multiply the batch out: ranks × rows × length ÷ step time",
        "torchtune and Axolotl divide by the world, Hugging Face does not",
    ),
    Size(
        "dp",
        "data parallelism",
        "the rate of all replicas, read as that of one",
        "the rate of one replica, read as that of all",
        "multiply the batch out: replicas × rows × length ÷ step time",
        "torchtitan logs per device, Hugging Face all together",
    ),
    Size(
        "tp",
        "tensor parallelism",
        "every rank of a tensor-parallel group counts the same tokens",
        "divided by a world that holds tensor-parallel ranks, of tokens counted once",
        "compare with dp × rows × length: tensor-parallel ranks share their tokens",
        "torchtune #2622",
    ),
    Size(
        "cp",
        "context parallelism",
        "every rank of a context-parallel group counts the whole sequence",
        "each rank's share of the sequence is taken for all of it",
        "count tokens before the sequence is split, once per group",
        "NeMo-RL #1015: 156 % for 19.5 %",
    ),
    Size(
        "pp",
        "pipeline parallelism",
        "every stage counts the tokens that pass through all",
        "divided by stages that share the tokens",
        "count on one stage only",
        "torchtitan #1989",
    ),
    Size(
        "vpp",
        "virtual pipeline stages",
        "FLOPs are added up once per virtual stage",
        "divided by virtual stages",
        "turn interleaving off: the FLOPs per step must stay",
        "Megatron-LM 3f91b7a0ea, Megatron-Bridge #4750",
    ),
)
