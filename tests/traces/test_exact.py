"""Times are whole nanoseconds; the decimal module is the judge."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepviz.traces.reading.exact import nanosecond_array, nanoseconds


@given(st.integers(0, 2 * 10**15), st.integers(0, 999))
@example(1711964646000000, 123)
def test_three_decimals_are_exact_at_any_size(whole, part):
    assert nanoseconds(f"{whole}.{part:03d}") == whole * 1000 + part


@given(st.decimals(-(10**12), 10**12, allow_nan=False, allow_infinity=False, places=6))
def test_other_decimals_are_rounded_half_to_even(value):
    expected = int((value * 1000).to_integral_value(rounding=ROUND_HALF_EVEN))
    assert nanoseconds(str(value)) == expected


@pytest.mark.parametrize(
    ("value", "ns"),
    [(5, 5000), ("5", 5000), ("-1.234", -1234), ("1e3", 1_000_000), ("2.5E-3", 2), (0, 0)],
)
def test_integers_text_and_exponents(value, ns):
    assert nanoseconds(value) == ns


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "", "x.123", "1e9999999", 10**30, None, True, [], {}]
)
def test_what_is_no_time_is_none(value):
    assert nanoseconds(value) is None


def test_an_array_says_which_are_valid():
    ns, valid = nanosecond_array([b"1.001", b"null", b"3", b"", b'"2.5"', b"NaN", b"[1]"])
    assert ns.tolist() == [1001, 0, 3000, 0, 2500, 0, 0]
    assert valid.tolist() == [True, False, True, False, True, False, False]


#: Numbers as writers spell them: integers, one to six decimals, exponents, texts.
SPELLED = st.one_of(
    st.integers(-(2 * 10**15), 2 * 10**15).map(str),
    st.decimals(-(10**15), 10**15, allow_nan=False, allow_infinity=False, places=3).map(str),
    st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False).map(str),
    st.floats(-1e15, 1e15).map(repr),
    st.integers(0, 10**30).map(str),
)


@given(st.lists(SPELLED, max_size=8), st.sampled_from(["{}", '"{}"']))
@example(["0.5", "-0.5", "-0", "1", "1.25", "1e3"], "{}")
@example([str(2**62), "1"], "{}")
@example([str(2**64), str(-(2**63))], "{}")
def test_many_at_once_are_as_exact_as_one_by_one(values, spelling):
    ns, valid = nanosecond_array([spelling.format(value).encode() for value in values])
    alone = [nanoseconds(value) for value in values]
    assert valid.tolist() == [whole is not None for whole in alone]
    assert ns.tolist() == [whole or 0 for whole in alone]


def test_a_float_would_have_moved_it():
    text = "1711964646123456.789"
    assert nanoseconds(text) == int(Decimal(text) * 1000)
    assert int(float(text) * 1000) != nanoseconds(text)
