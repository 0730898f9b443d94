"""`Scoring` knows what `Factors` know."""

from dataclasses import fields

from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import Factors


def test_scoring_knows_what_factors_know() -> None:
    shared = {each.name for each in fields(Scoring)}
    assert shared == {each.name for each in fields(Factors)} - {"queries", "keys", "log_sum_exp"}
