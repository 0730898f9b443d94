"""The logit lens of each layer is its hidden state through the final norm and the head."""

import numpy as np
import pytest
import torch

import glassformer as gf
from edited_models import KINDS, make_subject
from glassformer.errors import InputError
from tolerances import assert_near

WORDS = (7, 9, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_each_layer_is_its_state_through_norm_and_head(kind: str) -> None:
    subject, reads = make_subject(kind)
    lens = gf.logit_lens(subject, reads[0], WORDS, *reads[1:])
    states = subject.record(*reads, want=("hidden",)).hidden["decoder"]  # the last one is normed already
    for layer, hidden in enumerate(states[1:]):
        rows = torch.tensor(hidden)
        with torch.no_grad():
            if kind == "GPT-2":
                last = layer == len(states) - 2
                logits = subject.network.lm_head(rows if last else subject.network.transformer.ln_f(rows))
            elif kind == "BART":
                logits = subject.network.lm_head(rows)
            else:
                norm = subject.network.decoder.norm
                last = layer == len(states) - 2 or norm is None
                logits = subject.network.logits((rows if last else norm(rows))[None])[0]
        scores = logits.log_softmax(-1).numpy()
        size = float(logits.abs().max())
        assert_near(lens.log_probabilities[layer], scores[:, WORDS], layers=3, scores=64, magnitude=size)
        ranks = (scores[:, None] > scores[:, WORDS][..., None]).sum(-1)
        clear = np.abs(np.sort(scores, -1)[:, 1:] - np.sort(scores, -1)[:, :-1]).min(-1) > 1e-3
        assert clear.any()
        np.testing.assert_array_equal(lens.ranks[layer][clear], ranks[clear])
        np.testing.assert_array_equal(lens.best[layer][clear], scores.argmax(-1)[clear])
    assert len(lens.ranks) == 3


@pytest.mark.slow
def test_a_lens_describes_itself() -> None:
    lens = gf.logit_lens("zoo/gpt2", "The cat sat on the", [" floor"])
    lines = str(lens).splitlines()
    assert len(lines) == 7
    assert lines[-1] == "layer 5: ' floor'; ranks: ' floor' 0"
    assert lens.best_words[-1][-1] == " floor"
    assert gf.logit_lens("zoo/gpt2", "The cat").ranks.shape == (6, 2, 0)


def test_a_model_without_words_has_no_lens() -> None:
    with pytest.raises(InputError, match="predicts no words"):
        gf.logit_lens("zoo/sentiment", "A moving film.")
