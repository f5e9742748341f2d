"""Which rank a process is, and where ranks of several machines run: on made-up counts."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.recording.options import LaunchedOptions, Options
from stepviz.recording.own_place import Neighbours, Sight, first_node, neighbours, told_place
from stepviz.recording.placement import placed

SLURM = {
    "SLURM_PROCID": "5", "SLURM_NTASKS": "64", "SLURM_STEP_NUM_TASKS": "16",
    "SLURM_STEP_NODELIST": "gpu[003-004]", "SLURM_JOB_NODELIST": "gpu[001-008]",
    "SLURM_JOB_ID": "1234567", "SLURM_LOCALID": "1", "SLURM_TASKS_PER_NODE": "8(x2)",
}  # fmt: skip


def test_slurm_says_where_ranks_meet_without_any_script():
    place = dict(SLURM)
    assert told_place(place) == []
    # Of the step, which need not be the whole job.
    assert (place["RANK"], place["WORLD_SIZE"], place["MASTER_ADDR"]) == ("5", "16", "gpu003")
    assert 1024 < int(place["MASTER_PORT"]) < 32_768
    other = {**SLURM, "SLURM_JOB_ID": "1234568"}
    told_place(other)
    assert other["MASTER_PORT"] != place["MASTER_PORT"]


def test_what_a_launcher_set_stays():
    torchrun = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "h", "MASTER_PORT": "7"}
    place = {**SLURM, **torchrun}
    assert told_place(place) == []
    assert {name: place[name] for name in torchrun} == torchrun
    by_hand = {**SLURM, "MASTER_ADDR": "10.0.0.7", "MASTER_PORT": "4000"}
    told_place(by_hand)
    assert (by_hand["MASTER_ADDR"], by_hand["MASTER_PORT"]) == ("10.0.0.7", "4000")


@pytest.mark.parametrize(
    ("place", "missing"),
    [
        ({}, ["RANK", "WORLD_SIZE", "MASTER_ADDR"]),
        ({"RANK": "0", "WORLD_SIZE": "2"}, ["MASTER_ADDR"]),
        ({"SLURM_PROCID": "0"}, ["WORLD_SIZE", "MASTER_ADDR"]),
    ],
)
def test_what_nobody_says_is_named(place, missing):
    assert told_place(place) == missing


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("n1", "n1"), ("n1,n2", "n1"), ("n[1-4]", "n1"), ("n[01,07-09],m3", "n01"),
        ("c-2-n[11]", "c-2-n11"), ("a.site.org", "a.site.org"),
    ],
)  # fmt: skip
def test_the_first_of_slurms_nodes(nodes, first):
    assert first_node(nodes) == first


def sights(*machines):
    """Return what ranks see: of each machine what each of its ranks sees, GPUs and cores."""
    return [
        Sight(f"m{k}", tuple(gpus), tuple(cores))
        for k, ranks in enumerate(machines)
        for gpus, cores in ranks
    ]


def test_under_torchrun_all_ranks_see_all_gpus_and_take_one_each():
    seen = sights([("01", range(8))] * 2, [("01", range(8))] * 2)
    found = [neighbours(seen, rank) for rank in range(4)]
    assert [one.own for one in found] == [0, 1, 0, 1]
    assert found[3] == Neighbours(here=2, gpus=2, cores=8, own=1, scarce=None)


def test_where_slurm_gives_each_rank_its_own_gpu_there_are_enough():
    each = [(["GPU-a"], range(4)), (["GPU-b"], range(4, 8))]
    found = [neighbours(sights(each), rank) for rank in range(2)]
    # Each calls its own number 0, and has its own cores.
    assert found[0] == found[1] == Neighbours(here=2, gpus=2, cores=8, own=0, scarce=None)
    placement = placed(ranks_here=2, gpus=found[0].gpus, cores_here=found[0].cores)
    assert (placement.backend, placement.threads) == ("nccl", 4)


def test_more_ranks_than_gpus_have_not_one_each():
    found = [neighbours(sights([("0", range(4))] * 2), rank) for rank in range(2)]
    assert [one.own for one in found] == [0, None]
    assert [one.gpus for one in found] == [1, 1]
    assert placed(ranks_here=2, gpus=1, cores_here=4).why.startswith(
        "1 GPU for 2 ranks: NCCL wants one each"
    )


def test_all_machines_exchange_the_same_way():
    seen = sights([("01", range(4))] * 2, [("0", range(4))] * 2, [("", range(4))])
    rich, poor, none = (neighbours(seen, rank) for rank in (0, 2, 4))
    assert rich.scarce == (2, 1)
    assert poor.scarce == (1, 0)
    assert none.scarce == (2, 1)
    choices = [
        placed(ranks_here=one.here, gpus=one.gpus, cores_here=one.cores, scarce=one.scarce)
        for one in (rich, poor, none)
    ]
    assert {one.backend for one in choices} == {"gloo"}
    assert choices[0].why.startswith("1 GPU on another machine for its 2 ranks, and all exchange")
    assert choices[1].why.startswith("1 GPU for 2 ranks: NCCL wants one each")
    assert choices[2].why.startswith("no GPU here")
    with pytest.raises(sv.CaptureError, match="for 2 ranks 1 GPU on another machine"):
        placed(ranks_here=2, gpus=2, asked="cuda", cores_here=4, scarce=rich.scarce)


def test_whoever_started_the_ranks_may_start_any_number():
    assert LaunchedOptions(ranks=512).ranks == 512
    with pytest.raises(sv.CaptureError, match="ranks=512 is more than the 64 that one machine"):
        Options(ranks=512)
