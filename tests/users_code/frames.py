"""The frames among the main results; their types need pandas-stubs."""

from typing import assert_type

import pandas as pd

import stepviz as sv

step = sv.sample_run().step()
assert_type(step.critical_path, pd.DataFrame)
assert_type(step.breakdown(), pd.DataFrame)
assert_type(sv.lesson().phases, pd.DataFrame)
assert_type(sv.lesson().dependencies, pd.DataFrame)
assert_type(sv.compare(sv.lesson(), {"exchange": sv.shorten("exchange", 100)}), pd.DataFrame)
assert_type(sv.rank_changes(sv.lesson(), ms=100), pd.DataFrame)
