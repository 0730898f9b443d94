"""Maps of what a model reports about itself."""

import numpy as np
import torch
import transformers as hf

from glassformer.loaded.opening import load
from their_models import SMALL, eager_maps, ids_of, sharpen
from tolerances import assert_near


def test_numbers_that_are_no_weights_are_left_out_by_name() -> None:
    torch.manual_seed(0)
    config = hf.ProphetNetConfig(
        vocab_size=40, hidden_size=32, num_encoder_layers=2, num_decoder_layers=2,
        num_encoder_attention_heads=4, num_decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
    )  # fmt: skip
    model = hf.ProphetNetForConditionalGeneration(config)
    recording = load(model).record(ids_of(9), ids_of(6))
    assert {(each.stack, each.kind) for each in recording.maps} == {("decoder", "self")}
    assert any(
        "weights there: decoder (cross), encoder (self)" in str(note) for note in recording.evidence.notes
    )


def test_global_tokens_of_a_banded_model_get_whole_rows_and_columns() -> None:
    torch.manual_seed(0)
    model = sharpen(
        hf.LongformerModel(hf.LongformerConfig(**SMALL, attention_window=4, max_position_embeddings=64))
    )
    ids = torch.tensor([ids_of(13)])
    marked = torch.zeros_like(ids)
    marked[0, [0, 7]] = 1
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "global_attention_mask": marked}
    each = load(model).record(inputs).maps[1]
    reported = eager_maps(model, **inputs)
    band, rows = reported.attentions[1][0].numpy(), reported.global_attentions[1][0].numpy()
    assert np.array_equal(each.dense[:, 7], rows[:, :13, 1])  # beyond it the model pads for itself
    assert np.array_equal(each.dense[:, 3, 7], band[:, 3, 1])  # a global key, far beyond the window
    assert np.array_equal(
        each.dense[:, 3, 4], band[:, 3, 2 + 2 + 1]
    )  # a neighbour: two global columns, two before
    assert_near(each.dense.sum(-1), 1, layers=2)
