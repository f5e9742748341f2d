"""Plans against published runs, and their arithmetic against itself."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import stepviz as sv
from tests.throughput.models import LLAMA_8B, gpt

DAY = 86_400
SEED = {"parameters": 7e9, "tokens": 100e9, "devices": 64, "peak": 300e12}


def plan(**fields):
    return sv.TrainingPlan(**{**SEED, "mfu": 0.4, **fields})


def test_the_seed():
    found = plan()
    assert found.flops == 4.2e21
    assert found.rate == 7.68e15
    assert found.active_seconds == 546_875
    assert found.days == pytest.approx(6.3296, abs=5e-5)
    assert plan(mfu=0.2).days == pytest.approx(12.659, abs=5e-4)
    assert plan(mfu=0.5).days == pytest.approx(5.0637, abs=5e-5)
    assert found.elapsed_days == found.days
    assert (found.days.unit, found.days.convention) == ("days", "6N_all, active")


# jax-ml/scaling-book, applied-training.md: 70e9 × 15e12, TPU v5p
def test_the_scaling_book():
    book = {"parameters": 70e9, "tokens": 15e12, "peak": sv.peak("TPU v5p", "bf16")}
    assert sv.TrainingPlan(**book).flops_per_token * 15e12 == pytest.approx(6.3e24)
    assert sv.TrainingPlan(**book, devices=8960, mfu=0.4).days == pytest.approx(44.3, rel=0.01)
    assert sv.TrainingPlan(**book, devices=18_823, mfu=0.5).days == pytest.approx(16.9, rel=0.01)
    years = sv.TrainingPlan(**book, devices=1, mfu=1).days / 365.25
    assert years == pytest.approx(435, rel=0.01)
    # the erratum: 1752 days need 225 chips; 171 would take 2305
    at = sv.TrainingPlan(**book, mfu=0.4)
    assert at.solve_for("devices", days=1752) == pytest.approx(225, rel=0.01)
    assert sv.TrainingPlan(**book, devices=171, mfu=0.4).days == pytest.approx(2305, rel=0.01)


# Narayanan et al. 2021, table 1, on A100 (312): layers, hidden, heads, GPUs, batch, TFLOP/s per
# GPU, percent of peak, PFLOP/s, TP, PP, data-parallel replicas, model MFU percent
NARAYANAN = [
    (24, 2304, 24, 32, 512, 137, 44, 4.4, 1, 1, 32, 33.5),
    (30, 3072, 32, 64, 512, 138, 44, 8.8, 2, 1, 32, 33.5),
    (40, 6144, 48, 256, 1024, 135, 43, 34.6, 8, 1, 32, 32.6),
    (60, 10240, 80, 1024, 1792, 140, 45, 143.8, 8, 4, 32, 33.7),
    (80, 12288, 96, 1536, 2304, 148, 47, 227.1, 8, 8, 24, 35.6),
    (105, 20480, 128, 2520, 2520, 163, 52, 410.2, 8, 35, 9, 39.2),
    (128, 25600, 160, 3072, 3072, 163, 52, 502.0, 8, 64, 6, 39.2),
]
SECONDS = [3.53, 3.70, 9.40, 16.06, 24.82, 54.08, 102.63]


@pytest.mark.parametrize(("row", "seconds"), list(zip(NARAYANAN, SECONDS, strict=True)))
def test_megatron_2021(row, seconds):
    layers, hidden, heads, gpus, batch, tera, percent, peta, tp, pp, dp, model = row
    assert tp * pp * dp == gpus
    assert gpus * tera / 1000 == pytest.approx(peta, rel=0.01)
    shape = gpt(layers, hidden, heads, 51200, 2048)
    tokens = sv.tokens_per_update(dp=dp, microbatch=1, accumulation=1, sequence=2048) * batch / dp
    found = sv.mfu(
        shape,
        convention="meg21",
        tokens_per_second=tokens / seconds,
        sequence=2048,
        peak=sv.peak("A100", "bf16"),
        devices=gpus,
    )
    assert 100 * found.value == pytest.approx(percent, abs=0.6)
    # what is printed is rounded to whole TFLOP/s and s/100
    assert found.flops_per_second / gpus / 1e12 == pytest.approx(tera, rel=0.01)
    assert 100 * sv.translate(found, "meg21", "matmul").value == pytest.approx(model, abs=0.4)


def test_palm():
    # 540.35B, L 118, H 48, Q 256, T 2048, 238.3K tokens/s on 6144 × 275 TFLOP/s
    shape = sv.ModelShape(
        layers=118, hidden=18432, heads=48, head_dim=256, vocab=256000, stated_parameters=540.35e9
    )
    run = {
        "tokens_per_second": 238.3e3,
        "sequence": 2048,
        "peak": sv.peak("TPU v4"),
        "devices": 6144,
    }
    assert 100 * sv.mfu(shape, convention="6N_all", **run).value == pytest.approx(45.73, abs=0.01)
    assert 100 * sv.mfu(shape, convention="palm", **run).value == pytest.approx(46.23, abs=0.01)


def test_megatron_turing():
    # 530B, 65.43K tokens/s = 1920 × 2048 / 60.1 s; PaLM's table: 29.7 and 30.2 % of 2240 A100
    shape = sv.ModelShape(layers=105, hidden=20480, heads=128, vocab=51200, stated_parameters=530e9)
    tokens = 1920 * 2048 / 60.1
    assert tokens == pytest.approx(65.43e3, rel=1e-3)
    run = {"tokens_per_second": tokens, "sequence": 2048, "peak": 312e12, "devices": 2240}
    assert 100 * sv.mfu(shape, convention="6N_all", **run).value == pytest.approx(29.7, abs=0.1)
    assert 100 * sv.mfu(shape, convention="palm", **run).value == pytest.approx(30.2, abs=0.1)


# GPT-3, table D.1: millions of parameters, FLOP, PF-days; 300B tokens
GPT3 = [
    (125, 2.25e20, 2.60),
    (356, 6.41e20, 7.42),
    (760, 1.37e21, 15.8),
    (1320, 2.38e21, 27.5),
    (2650, 4.77e21, 55.2),
    (6660, 1.20e22, 139),
    (12850, 2.31e22, 268),
    (174600, 3.14e23, 3640),
]


@pytest.mark.parametrize(("millions", "flops", "petaflop_days"), GPT3)
def test_gpt3(millions, flops, petaflop_days):
    found = sv.TrainingPlan(parameters=millions * 1e6, tokens=300e9, devices=1, peak=1e15, mfu=1)
    assert found.flops == pytest.approx(flops, rel=0.003)
    assert found.days == pytest.approx(petaflop_days, rel=0.003)


# Chinchilla, table 3: parameters, tokens, FLOP, tolerance (1.5T is rounded)
CHINCHILLA = [
    (400e6, 8.0e9, 1.92e19, 0.01),
    (1e9, 20.2e9, 1.21e20, 0.01),
    (10e9, 205.1e9, 1.23e22, 0.01),
    (67e9, 1.5e12, 5.76e23, 0.05),
    (175e9, 3.7e12, 3.85e24, 0.015),
    (280e9, 5.9e12, 9.90e24, 0.01),
    (520e9, 11e12, 3.43e25, 0.01),
    (1e12, 21.2e12, 1.27e26, 0.01),
    (10e12, 216.2e12, 1.30e28, 0.01),
]


@pytest.mark.parametrize(("parameters", "tokens", "flops", "tolerance"), CHINCHILLA)
def test_chinchilla(parameters, tokens, flops, tolerance):
    found = sv.TrainingPlan(parameters=parameters, tokens=tokens).flops_per_token * tokens
    assert found == pytest.approx(flops, rel=tolerance)


# GPU-hours of the model cards: billions of parameters, tokens, hours, peak, percent by 6N
CARDS = [
    (6.738, 2e12, 184_320, "A100", 39.1),
    (13.016, 2e12, 368_640, "A100", 37.7),
    (33.7, 2e12, 1_038_336, "A100", 35.0),
    (68.977, 2e12, 1_720_320, "A100", 42.9),
    (8.03, 15e12, 1.46e6, "H100 SXM", 13.9),
    (70.55, 15e12, 7.0e6, "H100 SXM", 25.5),
    (405.85, 15.6e12, 30.84e6, "H100 SXM", 34.5),
]


@pytest.mark.parametrize(("billions", "tokens", "hours", "device", "percent"), CARDS)
def test_llama_cards(billions, tokens, hours, device, percent):
    found = sv.TrainingPlan(
        parameters=billions * 1e9, tokens=tokens, devices=1, peak=sv.peak(device, "bf16")
    ).solve_for("mfu", days=hours / 24)
    assert 100 * found == pytest.approx(percent, abs=0.5)


# Llama 3, table 4: GPUs, TP, CP, PP, DP, sequence, rows per replica, TFLOP/s, percent
@pytest.mark.parametrize(
    ("gpus", "tp", "cp", "pp", "dp", "sequence", "rows", "tera", "percent"),
    [
        (8192, 8, 1, 16, 64, 8192, 32, 430, 43),
        (16384, 8, 1, 16, 128, 8192, 16, 400, 41),
        (16384, 8, 16, 16, 8, 131072, 16, 380, 38),
    ],
)
def test_llama_3_405b(gpus, tp, cp, pp, dp, sequence, rows, tera, percent):
    assert tp * cp * pp * dp == gpus
    tokens = sv.tokens_per_update(dp=dp, microbatch=1, accumulation=rows, sequence=sequence)
    assert tokens / 1e6 == pytest.approx(16.78, abs=0.005)
    assert 100 * tera * 1e12 / sv.peak("H100 SXM").flops == pytest.approx(percent, abs=1)


def test_deepseek_v3_under_three_denominators():
    # 37B active, 14.8T tokens, 2.79M H800-hours
    run = {"parameters": 37e9, "tokens": 14.8e12, "devices": 1}
    days = 2.79e6 / 24
    for peak, percent in ((1.513e15, 21.6), (1.979e15, 16.5), (989.5e12, 33.1)):
        found = sv.TrainingPlan(**run, peak=peak).solve_for("mfu", days=days)
        assert 100 * found == pytest.approx(percent, abs=0.1)


# LLM-Foundry, scripts/train/benchmarking: width, layers, N, sequence, devices, peak, tokens/s, MFU
FOUNDRY = [
    (8192, 80, 64_862_437_376, 2048, 512, 989.5e12, 515_636, 41.25, 55.00),
    (5120, 40, 12_853_954_560, 2048, 64, 989.5e12, 307_209, 39.86, None),
    (2560, 32, 2_651_837_440, 2048, 8, 1979e12, 244_692, 27.70, None),
]


@pytest.mark.parametrize("row", FOUNDRY)
def test_llm_foundry(row):
    hidden, layers, parameters, length, devices, peak, tokens, percent, hardware = row
    shape = sv.ModelShape(
        layers=layers, hidden=hidden, heads=hidden // 128, vocab=50368, stated_parameters=parameters
    )
    run = {"tokens_per_second": tokens, "sequence": length, "peak": peak, "devices": devices}
    found = sv.mfu(shape, convention="palm", **run)
    assert 100 * found.value == pytest.approx(percent, abs=0.02)
    if hardware is not None:
        assert 100 * sv.mfu(shape, convention="hfu_foundry", **run).value == pytest.approx(
            hardware, abs=0.02
        )


# Arithmetic against itself
NUMBERS = st.floats(1e-3, 1e3)


@st.composite
def plans(draw):
    return sv.TrainingPlan(
        parameters=draw(NUMBERS) * 1e9,
        tokens=draw(NUMBERS) * 1e11,
        devices=draw(st.integers(1, 5000)),
        peak=draw(NUMBERS) * 1e14,
        mfu=draw(st.floats(0.01, 1)),
        checkpoint_seconds=draw(st.floats(0, 300)),
        checkpoint_every=draw(st.floats(600, 7200)),
        evaluation_seconds=draw(st.floats(0, 300)),
        evaluation_every=draw(st.floats(600, 7200)),
        failures_per_device_day=draw(st.floats(0, 1e-3)),
        restart_seconds=draw(st.floats(0, 1800)),
        downtime_days=draw(st.floats(0, 3)),
    )


@given(plans(), st.sampled_from(["parameters", "tokens", "devices", "peak", "mfu"]))
def test_solving_gives_back_what_was_planned(plan, unknown):
    assume(plan.overheads.lost_share(plan.devices) < 0.4)
    right = getattr(plan, unknown)
    assert plan.solve_for(unknown, days=float(plan.days)) == pytest.approx(right, rel=1e-9)
    elapsed = float(plan.elapsed_days)
    assume(elapsed - plan.downtime_days > 1e-6 * elapsed)
    assert plan.solve_for(unknown, elapsed_days=elapsed) == pytest.approx(right, rel=1e-6)


@given(plans())
def test_the_parts_add_up_to_the_elapsed_time(plan):
    assume(plan.overheads.lost_share(plan.devices) < 1)
    table = plan.breakdown()
    assert table["days"].sum() == pytest.approx(plan.elapsed_days)
    assert table.loc["active", "share"] == pytest.approx(plan.goodput)
    # failures per second of running × what each costs
    running = table.loc[["active", "checkpoints", "evaluation", "restarts"], "seconds"].sum()
    failures = running * plan.devices * plan.failures_per_device_day / DAY
    each = plan.overheads.per_failure
    assert table.loc["restarts", "seconds"] == pytest.approx(failures * each)


@given(plans(), st.floats(1.01, 5))
def test_time_scales_as_it_must(plan, factor):
    from dataclasses import replace

    longer = replace(plan, tokens=plan.tokens * factor)
    assert longer.days == pytest.approx(factor * plan.days)
    faster = replace(plan, peak=plan.peak * factor)
    assert faster.days == pytest.approx(plan.days / factor)


def test_what_the_rate_includes_is_not_added_again():
    costs = {"checkpoint_seconds": 60, "evaluation_seconds": 120, "downtime_days": 1}
    apart = plan(**costs)
    # 60 s and 120 s per hour of training, and a day
    assert apart.elapsed_days == pytest.approx(apart.days * (1 + 180 / 3600) + 1)
    within = plan(**costs, included=["checkpoints", "evaluation"])
    assert within.elapsed_days == pytest.approx(within.days + 1)


def test_a_plan_is_a_band():
    band = plan().band()
    assert band["days"].tolist() == pytest.approx([6.3296 / 1.2, 6.3296, 6.3296 / 0.8], rel=1e-4)
    given_ = plan(mfu_range=(0.2, 0.5)).band()
    assert given_["days"].round(2).tolist() == [5.06, 6.33, 12.66]
    assert "assumed" in repr(plan())
    assert "assumed" not in repr(plan(mfu_range=(0.2, 0.5)))


def test_sensitivity_over_mfu_and_devices():
    table = plan().sensitivity(mfu=[0.2, 0.4, 0.5], devices=[64, 128])
    at = table.set_index(["mfu", "devices"])["days"]
    assert at[0.2, 64] == pytest.approx(12.659, abs=5e-4)
    assert at[0.5, 64] == pytest.approx(5.0637, abs=5e-5)
    assert at[0.4, 128] == pytest.approx(6.3296 / 2, abs=5e-5)
    assert len(plan().sensitivity()) == 25


def test_cost_and_energy_where_prices_are_given():
    found = plan(
        price_per_device_hour=2.0,
        watts_per_device=1000,
        power_usage_effectiveness=1.1,
        price_per_kwh=0.1,
    )
    hours = 64 * 546_875 / 3600
    assert found.device_hours == pytest.approx(hours)
    assert found.energy == pytest.approx(hours * 1.1)
    assert found.cost == pytest.approx(2 * hours + 0.11 * hours)
    with pytest.raises(sv.ThroughputError, match="has no price"):
        _ = plan().cost


def test_the_interval_of_checkpoints_that_costs_least():
    found = plan(checkpoint_seconds=30, failures_per_device_day=1e-3, restart_seconds=600)
    best = found.overheads.best_checkpoint_every(64)
    assert best == pytest.approx((2 * 30 * DAY / (64 * 1e-3)) ** 0.5)  # Young 1974

    def elapsed(every):
        return float(
            plan(
                checkpoint_seconds=30,
                failures_per_device_day=1e-3,
                restart_seconds=600,
                checkpoint_every=every,
            ).elapsed_days
        )

    assert elapsed(best) < min(elapsed(best / 2), elapsed(best * 2))


def test_a_plan_from_a_model_counts_under_its_convention():
    run = {"tokens": 15e12, "devices": 1024, "peak": sv.peak("H100 SXM"), "shape": LLAMA_8B}
    six_n = sv.TrainingPlan(**run, mfu=0.3989)
    causal = sv.TrainingPlan(**run, mfu=0.4261, convention="causal", sequence=8192)
    # the same step under two conventions takes as long
    assert causal.days == pytest.approx(six_n.days, rel=1e-3)
    measured = sv.mfu(
        LLAMA_8B, convention="causal", tokens_per_second=8192, sequence=8192, peak=989.5e12
    )
    with pytest.raises(sv.ThroughputError, match=r"days would be 1\.07 times too low") as refused:
        sv.TrainingPlan(**run, mfu=measured)
    assert refused.value.factor == pytest.approx(48.182 / 51.470, rel=1e-4)


def test_failures_can_eat_a_run():
    failing = {"failures_per_device_day": 1.0, "restart_seconds": 3600}
    with pytest.raises(sv.ThroughputError, match="would never end"):
        _ = plan(**failing).elapsed_days
    with pytest.raises(sv.ThroughputError, match="no number of devices"):
        plan(**failing).solve_for("devices", elapsed_days=1)
    with pytest.raises(sv.ThroughputError, match="nothing is left for training"):
        plan(downtime_days=3).solve_for("mfu", elapsed_days=2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mfu": 40}, r"40 % is 0\.4"),
        ({"mfu": 0}, "mfu is 0"),
        ({"devices": -1}, "devices is -1"),
        ({"peak": "H100"}, "peak is 'H100'"),
        ({"convention": "causal"}, "give shape="),
        ({"shape": LLAMA_8B}, "both given"),
        ({"included": ["coffee"]}, "no measured rate includes 'coffee'"),
        ({"mfu_range": (0.5, 0.2)}, "lower one first"),
        ({"checkpoint_every": 0}, "checkpoint_every is 0"),
        ({"power_usage_effectiveness": 0.5}, "power_usage_effectiveness is 0.5"),
    ],
)
def test_a_plan_that_has_no_meaning_is_refused(fields, message):
    with pytest.raises(sv.ThroughputError, match=message):
        plan(**fields)


def test_what_is_missing_is_said():
    with pytest.raises(sv.ThroughputError, match="this plan has no mfu"):
        _ = sv.TrainingPlan(**SEED).days
    assert "to solve for mfu" in repr(sv.TrainingPlan(**SEED))
    for arguments, message in (
        (("mfu",), "one of the two"),
        (("mfi",), "did you mean 'mfu'"),
        (("days",), None),
    ):
        if message is None:
            assert plan().solve_for(*arguments) == plan().days
            continue
        with pytest.raises(sv.ThroughputError, match=message):
            sv.TrainingPlan(**SEED).solve_for(*arguments)


def test_a_plan_shows_what_it_assumes():
    shown = plan()._repr_html_()
    for words in ("6N_all", "7.68e15 FLOP/s", "elapsed", "nothing comes on top"):
        assert words in shown
