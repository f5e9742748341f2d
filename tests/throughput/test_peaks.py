"""Dense peaks by exact name; the device at hand through a driver that answers as told."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

import stepviz as sv

# facts: dense TFLOP/s, memory TB/s
RIGHT = [
    ("V100 SXM2", "fp16", 125, 0.9),
    ("T4", "fp16", 65, 0.32),
    ("A100 40GB", "bf16", 312, 1.555),
    ("A100 SXM 80GB", "bf16", 312, 2.039),
    ("A100 PCIe 80GB", "bf16", 312, 1.935),
    ("A10", "bf16", 125, 0.6),
    ("A10G", "bf16", 70, 0.6),
    ("RTX 3090", "bf16", 71, 0.936),
    ("RTX 4090", "bf16", 165.2, 1.008),
    ("RTX 4090", "fp8", 330.3, 1.008),
    ("RTX 5090", "bf16", 209.5, 1.792),
    ("L4", "bf16", 121, 0.3),
    ("L40S", "bf16", 362, 0.864),
    ("L40S", "fp8", 733, 0.864),
    ("H100 SXM", "bf16", 989.4, 3.35),
    ("H100 SXM", "fp8", 1979, 3.35),
    ("H100 PCIe", "bf16", 756, 2.0),
    ("H100 NVL", "bf16", 835.5, 3.9),
    ("H200 SXM", "bf16", 989, 4.8),
    ("H200 NVL", "bf16", 836, 4.8),
    ("B200", "bf16", 2250, 8.0),
    ("B300", "bf16", 2250, 8.0),
    ("GB200", "bf16", 2500, 8.0),
    ("GB300", "nvfp4", 15000, 8.0),
    ("MI250X", "bf16", 383, 3.28),
    ("MI300X", "bf16", 1307.4, 5.3),
    ("MI325X", "fp8", 2614.9, 6.0),
    ("MI355X", "bf16", 2516.6, 8.0),
    ("TPU v4", "bf16", 275, 1.2),
    ("TPU v5e", "int8", 394, 0.82),
    ("TPU v5p", "bf16", 459, 2.765),
    ("TPU v6e", "bf16", 918, 1.6),
    ("TPU v7", "fp8", 4614, None),
    ("Trainium 2", "bf16", 667, 2.9),
    ("Gaudi 3", "bf16", 1835, 3.7),
]


@pytest.mark.parametrize(("device", "precision", "teraflops", "terabytes"), RIGHT)
def test_a_peak_of_the_catalogue(device, precision, teraflops, terabytes):
    found = sv.peak(device, precision)
    assert found.flops == pytest.approx(teraflops * 1e12, rel=1e-12)
    if terabytes is not None:
        assert found.bytes_per_second == pytest.approx(terabytes * 1e12, rel=1e-12)
    assert found.source
    assert found.date
    assert found.sparse is False


def test_every_row_has_its_source_and_date_and_is_no_sparse_figure():
    table = sv.peak_table()
    assert table.index.is_unique
    assert (table["source"] != "").all()
    assert table["date"].str.fullmatch(r"\d{4}-\d{2}").all()
    wide = table["flops"].unstack()
    both = wide.dropna(subset=["bf16", "fp8"])
    assert (both["fp8"] <= 2.1 * both["bf16"]).all()
    measured = table.dropna(subset=["achievable_flops"])
    assert (measured["achievable_flops"] < measured["flops"]).all()


def test_per_die_is_half_of_a_package():
    for package, die in (("MI250X", "MI250X GCD"), ("TPU v7", "TPU v7 TensorCore")):
        assert sv.peak(die).flops == sv.peak(package).flops / 2
        assert (sv.peak(package).per, sv.peak(die).per) == ("package", "die")
    # what software calls an MI250X is one of its dies
    assert sv.peak("AMD Instinct MI250X").per == "die"


# facts: share of the sheet, percent
@pytest.mark.parametrize(
    ("device", "share"),
    [("A100 SXM 80GB", 87), ("H100 SXM", 80), ("B200", 78), ("GB200", 73), ("MI300X", 51)],
)
def test_the_best_measured_stands_beside_the_sheet(device, share):
    found = sv.peak(device, "bf16")
    assert round(100 * found.achievable_flops / found.flops) == share
    assert "best measured" in found._repr_html_()


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80GB"),
        ("nvidia a100-sxm4-40gb", "A100 40GB"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA GB200", "GB200"),
        ("Tesla V100-SXM2-16GB", "V100 SXM2"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("h100_sxm", "H100 SXM"),
    ],
)
def test_a_device_is_known_by_its_whole_name(name, device):
    precision = "fp16" if "V100" in name else "bf16"
    assert sv.peak(name, precision).device == device


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("H100", "H100 SXM"),
        ("V100", "V100 SXM2"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "H100|A100|there are"),
        ("NVIDIA L40S-8Q", "L40S"),
        ("RTX 4090 Laptop", "RTX 4090"),
        ("abacus", "there are"),
        ("", "there are"),
        (4090, "no peak is known"),
    ],
)
def test_an_unknown_device_names_near_ones_and_guesses_none(name, near):
    with pytest.raises(sv.ThroughputError, match=near):
        sv.peak(name, "bf16")


def test_a_precision_is_known_by_its_names_or_refused():
    for name in ("bf16", "bfloat16", "torch.bfloat16", "BF16"):
        assert sv.peak("A100", name).precision == "bf16"
    with pytest.raises(sv.ThroughputError, match="did you mean 'fp8'"):
        sv.peak("A100", "fp9")
    with pytest.raises(sv.ThroughputError, match="no dense fp8 peak is known of A100"):
        sv.peak("A100", "fp8")
    with pytest.raises(sv.ThroughputError, match="no bf16 in its tensor cores"):
        sv.peak("T4", "bf16")


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Put an nvidia-smi on PATH that prints what it is told."""
    monkeypatch.setitem(sys.modules, "torch", None)

    def install(output, code=0):
        script = tmp_path / "nvidia-smi"
        script.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit {code}\n")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return install


@pytest.mark.parametrize(
    "output",
    [
        "NVIDIA H100 80GB HBM3, Disabled",
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H100 80GB HBM3, [N/A]\nNVIDIA H100 80GB HBM3, [N/A]",
    ],
)
def test_the_driver_names_the_device_at_hand(driver, output):
    driver(output)
    assert sv.peak().device == "H100 SXM"
    assert sv.peak(precision="fp8").flops == 1979e12


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("NVIDIA A100-SXM4-40GB, Enabled", 0, "cut into slices"),
        ("NVIDIA L4, Disabled\nNVIDIA L40S, Disabled", 0, "several kinds"),
        ("NVIDIA-SMI has failed because it couldn't communicate", 9, "nvidia-smi failed"),
        ("", 0, "no device is at hand"),
        ("NVIDIA X1000, Disabled", 0, "no peak is known of the device 'NVIDIA X1000'"),
    ],
)
def test_a_driver_that_does_not_say_one_known_device(driver, output, code, message):
    driver(output, code)
    with pytest.raises(sv.ThroughputError, match=message):
        sv.peak()


def test_without_a_driver_the_error_says_how_to_name_one(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sv.ThroughputError, match="no nvidia-smi on PATH"):
        sv.peak()


def test_torch_is_asked_where_somebody_imported_it(monkeypatch, driver):
    driver("NVIDIA L4, Disabled")
    cuda = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        get_device_name=lambda _: "AMD Instinct MI300X",
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert sv.peak().device == "MI300X"
    cuda.is_available = lambda: False
    assert sv.peak().device == "L4"


def test_torch_is_never_imported_for_it():
    code = """
        import sys
        import stepviz as sv
        try:
            sv.peak()
        except sv.ThroughputError:
            pass
        sv.count_tokens([[1, 2]])
        print("torch" in sys.modules)
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


LLAMA = sv.ModelShape(layers=2, hidden=64, heads=4, vocab=100)


def guards_of(**arguments):
    settings = {"convention": "causal", "tokens_per_second": 1.0, "sequence": 8, **arguments}
    return sv.mfu(LLAMA, **settings).guards


def test_a_sparse_peak_is_noticed():
    assert (
        "the sparse bf16 figure of H100 SXM, and its dense fp8 peak" in guards_of(peak=1979e12)[0]
    )
    assert guards_of(peak=1979e12, precision="fp8") == ()
    assert "sparse bf16 figure of A100" in guards_of(peak=624e12)[0]
    for dense in (312e12, 989.5e12, 989.4e12, 362e12, 300e12):
        assert guards_of(peak=dense) == ()


def test_work_in_another_precision_than_the_peaks_is_noticed():
    # Megatron-Bridge, GB300 in fp8: 2,522 TFLOP/s are 100.9 % of the bf16 peak, 50 % of its own
    wrong, right = (2522e12 / sv.peak("GB300", p).flops for p in ("bf16", "fp8"))
    assert (round(100 * wrong, 1), round(100 * right)) == (100.9, 50)
    assert "share of another" in guards_of(peak=sv.peak("GB300", "bf16"), precision="fp8")[0]


def test_more_than_a_peak_is_noticed():
    assert "cannot be reached" in guards_of(peak=1.0)[0]


def test_rates_that_are_not_of_positions_are_refused():
    counts = sv.TokenCounts(allocated=8, scored=2, scope="update", seconds=1.0)
    with pytest.raises(sv.ThroughputError, match="every position that was run over"):
        guards_of(tokens_per_second=counts.rate("scored"), peak=1e12)
    with pytest.raises(sv.ThroughputError, match="4 times too low") as refused:
        sv.mfu(
            LLAMA,
            convention="packed",
            tokens_per_second=counts.rate("scored"),
            sequence=sv.TokenCounts(allocated=8, real=8, squared_lengths=64),
            peak=1e12,
        )
    assert refused.value.factor == 0.25
    with pytest.raises(sv.ThroughputError, match="is of one device"):
        guards_of(tokens_per_second=counts.rate("executed").per_device(8), peak=1e12)
    real = sv.TokenCounts(allocated=8, real=6, seconds=1.0).rate("real")
    assert "ran over padding too" in guards_of(tokens_per_second=real, peak=1e12)[0]


def test_a_table_has_one_step_under_every_convention():
    table = sv.mfu_table(LLAMA, tokens_per_second=1e6, sequence=[4, 4], peak=1e12)
    assert set(table.index) == set(sv.conventions().index)
    assert table["mfu"].is_monotonic_increasing
    assert table.loc["packed", "mfu"] < table.loc["causal", "mfu"]


def test_a_result_shows_its_convention():
    found = sv.mfu(
        LLAMA, convention="causal", tokens_per_second=1e6, sequence=8, peak=sv.peak("A100")
    )
    assert "MFU (causal)" in repr(found)
    for words in ("6·N_matmul", "312", "half of attention"):
        assert words in found._repr_html_()
    assert float(found) == found.value
    assert f"{found:.3f}" == f"{found.value:.3f}"


@pytest.mark.parametrize("teraflops", [224, 260, 394, 550, 766, 864, 1334])
def test_devices_without_sparsity_have_no_sparse_figure(teraflops):
    # twice a V100 PCIe, V100S, TPU v5e, TPU v4, MI250X, Gaudi 2, Trainium 2: no sheet has these
    shape = sv.ModelShape(layers=2, hidden=8, heads=2, vocab=16)
    step = {"tokens_per_second": 1, "sequence": 4, "peak": teraflops * 1e12}
    assert sv.mfu(shape, convention="causal", **step).guards == ()


def test_two_sentences_are_two():
    with pytest.raises(sv.ThroughputError, match=r"and 37 more\. Give a name of peak_table"):
        sv.peak("", "bf16")
    with pytest.raises(sv.ThroughputError, match=r"or 'H100 NVL'\? Give a name of peak_table"):
        sv.peak("H100", "bf16")
