import pytest
import torch

from glassformer.place import Place
from glassformer.recorders.batch import CannotFoldError, fold, take_row
from glassformer.recorders.call import Call, repeat_heads


def make_call(mask: torch.Tensor | None, bias: torch.Tensor | None = None) -> Call:
    generator = torch.Generator().manual_seed(1)
    queries = torch.randn(3, 4, 5, 8, generator=generator)
    keys, values = (torch.randn(3, 2, 5, 8, generator=generator) for _ in range(2))
    sink = torch.arange(4.0)
    return Call(
        Place("decoder", "self", 0), queries, keys, values, mask, False, 1.0, None, bias, sink, None, ()
    )


def test_heads_of_all_texts_keep_their_keys() -> None:
    call = make_call(None, torch.randn(1, 4, 5, 5))
    folded = fold(call, 3)
    assert folded.queries.shape == (1, 12, 5, 8)
    apart = call.queries @ repeat_heads(call.keys, 4).transpose(-1, -2)
    together = folded.queries @ repeat_heads(folded.keys, 12).transpose(-1, -2)
    assert torch.equal(together[0].unflatten(0, (3, 4)), apart)
    assert torch.equal(folded.bias[0].unflatten(0, (3, 4)), call.bias.expand(3, -1, -1, -1))
    assert folded.sink.tolist() == [0, 1, 2, 3] * 3


def test_texts_that_see_different_keys_are_not_folded() -> None:
    mask = torch.ones(3, 1, 5, 5, dtype=torch.bool)
    assert fold(make_call(mask), 3).mask.shape == (1, 1, 5, 5)
    mask[2, 0, :, 4] = False
    with pytest.raises(CannotFoldError):
        fold(make_call(mask), 3)
    with pytest.raises(CannotFoldError):  # windows of a text as rows of a batch
        fold(make_call(None), 1)


def test_outputs_of_one_text() -> None:
    outputs = {"logits": torch.arange(6).view(3, 2), "states": (torch.ones(3, 1),), "loss": torch.tensor(1.0)}
    row = take_row(outputs, 1, 3)
    assert row["logits"].tolist() == [[2, 3]]
    assert row["states"][0].shape == (1, 1)
    assert row["loss"] == 1
