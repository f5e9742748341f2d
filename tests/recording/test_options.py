"""What a capture can be told: every option checked before anything starts."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

import stepviz as sv
from stepviz.cli import main
from stepviz.recording.flags import add_flags, as_flags, options_of
from stepviz.recording.options import Options, told
from stepviz.recording.placement import placed


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rank": 2}, "no option 'rank'; did you mean 'ranks'"),
        ({"bucket_cap": 2}, "did you mean 'bucket_cap_mb'"),
        ({"ranks": 0}, "ranks=0 is too few; at least 1"),
        ({"ranks": 2.5}, "ranks is a whole number, not 2.5"),
        ({"ranks": True}, "ranks is a whole number, not True"),
        ({"ranks": 1000}, "under your own torchrun"),
        ({"warmup": 1}, "warmup=1 is too few; at least 2: DDP has one bucket"),
        ({"bucket_cap_mb": 0}, "caps are MiB above 0"),
        ({"bucket_cap_mb": []}, "caps are MiB above 0"),
        ({"bucket_cap_mb": [4, "8"]}, "bucket_cap_mb is a finite number, not '8'"),
        ({"bucket_cap_mb": float("nan")}, "bucket_cap_mb is a finite number, not nan"),
        ({"width": 250}, "not divisible by heads=4"),
        ({"dtype": "bfloat"}, "there are 'float32', 'bfloat16'"),
        ({"device": "gpu"}, "there are 'auto', 'cpu', 'cuda'"),
        ({"fused": 1}, "fused is True or False, not 1"),
        ({"prompt_fraction": 1.5}, "is a share, from 0 to 1"),
        ({"slow_rank": 2, "slow_ms": 5}, "not among 2 ranks"),
        ({"slow_rank": 1}, "give slow_ms=20, say"),
        ({"slow_ms": 5}, "give slow_rank=1, say"),
        ({"latency_ms": -1}, "latency_ms=-1.0 is too little; at least 0"),
        ({"device": "cuda", "latency_ms": 5}, "works on the CPU only"),
        ({"port": 80}, "none that a user may open"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(tmp_path, given, said):
    with pytest.raises(sv.CaptureError, match=said):
        sv.capture(out=tmp_path / "new", **given)
    assert list(tmp_path.iterdir()) == []


def test_flags_say_what_options_say():
    parser = argparse.ArgumentParser()
    add_flags(parser)
    for options in (
        Options(),
        Options(bucket_cap_mb=[4, 1, 2.5], no_sync=False, fused=False, slow_rank=1, slow_ms=2.25),
        Options(bucket_cap_mb=None, threads=3, dtype="bfloat16", sweep=False, ranks=4),
    ):
        assert options_of(parser.parse_args(as_flags(options))) == options


def test_help_and_docstring_name_every_option(capsys):
    with pytest.raises(SystemExit):
        main(["capture", "--help"])
    shown = capsys.readouterr().out
    for name in told():
        assert f"--{name.replace('_', '-')}" in shown
        assert f"    {name} : " in (sv.capture.__doc__ or "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--ranks", "many"], "ranks is a whole number, not 'many'"),
        (["--bucket-cap-mb", "4,x"], "bucket_cap_mb is a finite number, not 'x'"),
        (["--optimizer", "adam"], "there are 'adamw', 'sgd'"),
    ],
)
def test_the_shell_refuses_in_one_sentence(tmp_path, capsys, given, said):
    assert main(["capture", "--out", str(tmp_path / "new"), *given]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


# Where ranks run: counts alone decide.
@pytest.mark.parametrize(
    ("counts", "backend", "why"),
    [
        ({"ranks_here": 2, "gpus": 0}, "gloo", "no GPU here"),
        ({"ranks_here": 2, "gpus": 2}, "nccl", "2 GPUs for 2 ranks: one each"),
        ({"ranks_here": 2, "gpus": 8}, "nccl", "8 GPUs for 2 ranks"),
        ({"ranks_here": 2, "gpus": 1}, "gloo", "1 GPU for 2 ranks: NCCL wants one each"),
        ({"ranks_here": 1, "gpus": 1}, "nccl", "a single rank exchanges nothing"),
        ({"ranks_here": 1, "gpus": 0}, "gloo", "a single rank exchanges nothing"),
        ({"ranks_here": 2, "gpus": 2, "asked": "cpu"}, "gloo", "was asked for"),
        ({"ranks_here": 2, "gpus": 2, "emulated": True}, "gloo", "emulated fabric"),
        ({"ranks_here": 2, "gpus": 2, "nccl": False}, "gloo", "no NCCL"),
        ({"ranks_here": 2, "gpus": 0, "mps": True}, "gloo", "a Mac's GPU"),
        ({"ranks_here": 8, "gpus": 0}, "gloo", "which they share"),
        ({"ranks_here": 2, "gpus": 0, "workers": 1}, "gloo", "1 loader process on 4 cores, which"),
    ],
)
def test_counts_decide_where_ranks_run(counts, backend, why):
    found = placed(cores_here=4, **counts)
    assert (found.backend, found.device) == (backend, "cuda" if backend == "nccl" else "cpu")
    assert why in found.why
    assert found.threads == max(1, 4 // counts["ranks_here"])


def test_one_rank_on_each_of_several_machines_is_not_alone():
    for gpus in (0, 1):
        why = placed(ranks_here=1, gpus=gpus, cores_here=4, ranks=2).why
        assert "exchanges nothing" not in why


def test_gpus_that_are_not_there_are_not_replaced_in_silence():
    with pytest.raises(sv.CaptureError, match=r"device='cuda' needs one GPU per rank.*1 GPU here"):
        placed(ranks_here=2, gpus=1, asked="cuda", cores_here=4)


# What needs no torch to be refused.
def test_without_torch_the_message_says_what_to_install(tmp_path):
    code = (
        "import sys, stepviz as sv\n"
        "sys.meta_path.insert(0, type('No', (), {'find_spec': staticmethod(lambda name, *_: "
        "(_ for _ in ()).throw(ModuleNotFoundError(name)) if name == 'torch' else None)}))\n"
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n == 'torch' else real(n, *a)\n"
        f"folder = {str(tmp_path / 'new')!r}\n"
        "makers = (lambda: sv.capture(out=folder), lambda: sv.Recorder(folder),\n"
        "    lambda: sv.experiment(caps=[1], out=folder))\n"
        "for make in makers:\n"
        "    try:\n        make()\n"
        "    except sv.CaptureError as error:\n        print(error)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    lines = answer.stdout.splitlines()
    assert len(lines) == 3, answer.stdout
    assert all("pip install 'stepviz[capture]'" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_importing_stepviz_and_asking_for_help_load_no_torch():
    code = (
        "import sys, stepviz.recording.captures, stepviz.recording.recorder\n"
        "from stepviz.cli import _parser\n_parser()\nprint('torch' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"
