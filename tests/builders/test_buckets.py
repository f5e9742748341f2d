"""DDP's buckets: against torch's own functions, a real DDP, and the tables of the facts."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.builders.gpt2 import shapes, sizes

MIB = 2**20


def mib(frame):
    return [round(value / MIB, 3) for value in frame["bytes"]]


def test_gpt2_default_after_the_rebuild():
    frame = sv.builders.ddp_buckets(sizes())
    assert mib(frame) == [9.009, *[27.038] * 11, 168.272]
    assert frame["tensors"].tolist() == [4, *[12] * 12]
    assert frame["parameters"][1] == (
        "ln_f.bias", "ln_f.weight", "h11.mlp_proj.bias", "h11.mlp_proj.weight"
    )  # fmt: skip
    assert frame["parameters"][13][-2:] == ("wpe", "wte")


def test_gpt2_looking_for_unused_parameters():
    """Limits along registration, then reversed: the small first bucket is the embedding, last."""
    frame = sv.builders.ddp_buckets(sizes(), find_unused_parameters=True)
    assert [round(size, 2) for size in mib(frame)] == [0.01, *[27.04] * 11, 30.04, 147.24]
    assert frame["parameters"][14] == ("wte",)


def test_gpt2_in_the_first_iteration_is_one_bucket():
    frame = sv.builders.ddp_buckets(sizes(), iteration=1)
    assert (len(frame), mib(frame)) == (1, [474.7])


def test_no_cap_splits_the_embedding():
    for cap in (1, 5, 25, 100):
        largest = sv.builders.ddp_buckets(sizes(), bucket_cap_mb=cap)["bytes"].max()
        assert largest >= 50257 * 768 * 4


def torch_buckets(nbytes, dtypes, limits, order=None, sparse=()) -> list[list[int]]:
    torch = pytest.importorskip("torch")
    kinds = {"f4": torch.float32, "f2": torch.float16, "f8": torch.float64}
    tensors = [
        torch.empty(size // int(kind[1]), dtype=kinds[kind], device="meta")
        for size, kind in zip(nbytes, dtypes, strict=True)
    ]
    expect = [k in sparse for k in range(len(nbytes))] if sparse else []
    given_order = [tensors[k] for k in order] if order is not None else tensors
    found, _ = torch.distributed._compute_bucket_assignment_by_size(
        given_order, list(limits), expect, list(order) if order is not None else []
    )
    return found


@st.composite
def models(draw):
    kinds = draw(st.sampled_from([("f4",), ("f4", "f2"), ("f8", "f4", "f2")]))
    n = draw(st.integers(1, 30))
    nbytes = [8 * draw(st.integers(1, 500_000)) for _ in range(n)]
    dtypes = [draw(st.sampled_from(kinds)) for _ in range(n)]
    return nbytes, dtypes


@given(
    models(),
    st.sampled_from([(None, None), (0.5, None), (2, None), ([1, 3, 2], None), (0, None)]),
    st.randoms(use_true_random=False),
)
def test_every_mode_is_torchs_assignment(model, caps, random):
    nbytes, dtypes = model
    n = len(nbytes)
    frame = {"bytes": nbytes, "dtype": dtypes, "name": [str(k) for k in range(n)]}
    cap, _ = caps
    limits = {
        "none": [MIB, 25 * MIB],
        "list": [] if not isinstance(cap, list) else [c * MIB for c in cap],
        "number": [int(cap * MIB)] if isinstance(cap, float | int) else [],
    }["none" if cap is None else "list" if isinstance(cap, list) else "number"]
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(frame)

    def places(**options):
        found = sv.builders.ddp_buckets(table, bucket_cap_mb=cap, **options)
        return [[int(name) for name in names] for names in found["parameters"]]

    order = list(range(n))
    random.shuffle(order)
    ours = places(ready_order=order)
    theirs = torch_buckets(nbytes, dtypes, limits, order)
    assert ours == theirs
    assert places(find_unused_parameters=True) == torch_buckets(nbytes, dtypes, limits)[::-1]
    first = limits if isinstance(cap, list) else [sys.maxsize]
    assert places(iteration=1) == torch_buckets(nbytes, dtypes, first)[::-1]
    assert places(find_unused_parameters=True, static_graph=True, ready_order=order) == ours
    assert places(static_graph=True, ready_order=order, iteration=2) == places(iteration=1)


def test_sparse_gradients_are_alone():
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(4, 4)
            self.table = torch.nn.Embedding(10, 4, sparse=True)
            self.frozen = torch.nn.Linear(4, 4).requires_grad_(requires_grad=False)
            self.last = torch.nn.Linear(4, 4)

    frame = sv.builders.ddp_buckets(Model())
    assert frame["parameters"].tolist() == [
        ("table.weight",),
        ("last.bias", "last.weight", "first.bias", "first.weight"),
    ]
    assert frame["bytes"].tolist() == [160.0, 160.0]


REAL_DDP = """
import json, sys, tempfile, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
class Model(torch.nn.Module):
    def __init__(self, shapes):
        super().__init__()
        self.p = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(s)) for s in shapes])
    def forward(self, x):
        # The first is used first and so is ready last, as in a chain of layers.
        for p in self.p:
            x = x + p.view(-1)[0] * x
        return x
with tempfile.NamedTemporaryFile() as store:
    dist.init_process_group("gloo", init_method="file://" + store.name, rank=0, world_size=1)
    model = Model(json.load(sys.stdin))
    fixed = DistributedDataParallel(model, find_unused_parameters=True)
    said = {"fixed": fixed._get_ddp_logging_data()["bucket_sizes"]}
    del fixed
    ddp = DistributedDataParallel(model)
    said["first"] = ddp._get_ddp_logging_data()["bucket_sizes"]
    for _ in range(3):  # rebuilt before the second, and told in the third
        ddp(torch.ones(1)).sum().backward()
    data = ddp._get_ddp_logging_data()
    said["rebuilt"] = data["rebuilt_bucket_sizes"]
    said["order"] = data["prev_iteration_grad_ready_order_indices"]
    print(json.dumps(said))
    dist.destroy_process_group()
"""


STATIC_DDP = """
import tempfile, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
layers = [torch.nn.Linear(300, 300) for _ in range(6)]
with tempfile.NamedTemporaryFile() as store:
    dist.init_process_group("gloo", init_method="file://" + store.name, rank=0, world_size=1)
    model = torch.nn.Sequential(*layers)
    ddp = DistributedDataParallel(model, bucket_cap_mb=0.5, static_graph=True)
    seen = []
    def hook(state, bucket):
        seen[-1].append(bucket.buffer().nbytes)
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done
    ddp.register_comm_hook(None, hook)
    for _ in range(4):
        seen.append([])
        ddp(torch.ones(1, 300)).sum().backward()
    print(seen)
    dist.destroy_process_group()
"""


@pytest.mark.slow
def test_a_static_graph_is_rebuilt_before_the_third_iteration_as_in_torch():
    pytest.importorskip("torch")
    answer = subprocess.run(
        [sys.executable, "-c", STATIC_DDP], capture_output=True, text=True, check=True
    )
    nbytes = [4 * 300 * 300, 4 * 300] * 6
    options = {"bucket_cap_mb": 0.5, "static_graph": True}
    ours = [
        sv.builders.ddp_buckets(nbytes, iteration=k, **options)["bytes"].tolist()
        for k in (1, 2, 3, 4)
    ]
    assert json.loads(answer.stdout) == ours
    assert [len(sizes) for sizes in ours] == [1, 1, 3, 3]
    step = sv.builders.ddp(nbytes, backward=60, cost=1, iteration=1, **options)
    assert step.completion == 61  # nothing leaves before the end of backward


@pytest.mark.slow
def test_a_real_ddp_reports_the_same_buckets_for_gpt2():
    """All modes, to the byte, from DDP's own logging of a model with these parameters."""
    pytest.importorskip("torch")
    answer = subprocess.run(
        [sys.executable, "-c", REAL_DDP],
        input=json.dumps([shape for _, shape in shapes()]),
        capture_output=True,
        text=True,
        check=True,
    )
    said = {
        key: [int(word) for word in text.replace(",", " ").split()]
        for key, text in json.loads(answer.stdout).items()
    }
    assert said["order"] == list(range(148))[::-1]
    for mode, options, count in [
        ("rebuilt", {}, 13),
        ("fixed", {"find_unused_parameters": True}, 14),
        ("first", {"iteration": 1}, 1),
    ]:
        frame = sv.builders.ddp_buckets(sizes(), **options)
        assert said[mode] == frame["bytes"].tolist(), mode
        assert len(frame) == count


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=40), st.floats(0, 20))
def test_nothing_is_lost_and_only_the_last_is_below_the_cap(nbytes, cap):
    frame = sv.builders.ddp_buckets(nbytes, bucket_cap_mb=cap)
    assert frame["bytes"].sum() == sum(nbytes)
    limit = int(cap * MIB)
    assert (frame["bytes"].iloc[:-1] >= limit).all()
    largest = max(nbytes)
    assert (frame["bytes"] < limit + largest + 1).all()


@pytest.mark.parametrize(
    ("parameters", "options", "said"),
    [
        ([], {}, "parameters"),
        ([-1], {}, "parameter 0"),
        (["a"], {}, "parameter 0"),
        (5, {}, "parameters is int"),
        ([(768, 768)], {}, r"a pair is \(name, bytes\)"),
        ([1], {"bucket_cap_mb": -1}, "bucket_cap_mb"),
        ([1], {"bucket_cap_mb": []}, "bucket_cap_mb"),
        ([1], {"bucket_cap_mb": [1, "x"]}, r"bucket_cap_mb\[1\]"),
        ([1], {"bucket_cap_mb": [1], "first_bucket_mb": 1}, "first_bucket_mb"),
        ([1], {"iteration": 0}, "iteration"),
        ([1], {"find_unused_parameters": "no"}, "find_unused_parameters"),
        ({"a": 1, "b": 2}, {"ready_order": ["a"]}, "ready_order has 1 of 2"),
        ({"weight": 1, "b": 2}, {"ready_order": ["weigt", "b"]}, "did you mean 'weight'"),
    ],
)
def test_bad_input_names_the_argument(parameters, options, said):
    with pytest.raises(sv.TimelineError, match=said):
        sv.builders.ddp_buckets(parameters, **options)
