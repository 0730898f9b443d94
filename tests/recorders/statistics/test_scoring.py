"""`Scoring` knows what `Factors` know."""

from dataclasses import fields, replace

from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import Factors


def test_scoring_knows_what_factors_know() -> None:
    shared = {each.name for each in fields(Scoring)}
    assert shared == {each.name for each in fields(Factors)} - {"queries", "keys", "log_sum_exp"}
    assert replace(Scoring(1.0), window=3).reach(slice(10, 20), 100) == slice(8, 22)
