import numpy as np

from glassformer.recording import Tokens, from_arrays
from glassformer.recording.head_parts import take_heads


def test_a_run_of_heads_is_a_map_of_its_own() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(3), (6, 3)).astype(np.float32)  # (head, query, key)
    whole = from_arrays([weights], ["a", "b", "c"]).maps[0]
    tokens = Tokens.positional("source", 3)
    part = take_heads(whole, 1, 3, tokens, tokens)
    alone = from_arrays([weights[2:4]], ["0", "1", "2"]).maps[0]
    assert part.shape == (2, 3, 3)
    assert part.query is tokens
    assert (part.weights() == weights[2:4]).all()
    for name in ("entropy", "mass", "allowed", "thumbnail_max"):
        assert (getattr(part.statistics, name) == getattr(alone.statistics, name)).all()
