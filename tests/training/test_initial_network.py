"""The network that a run begins with."""

from pathlib import Path

import pytest

from glassformer.config import RecurrentConfig
from glassformer.errors import ConfigurationError
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.training.initial_network import build_network
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
from tolerances import assert_near
from training.runs import run


@pytest.mark.slow
def test_fine_tuning_starts_from_the_weights_of_a_model(recipe: Path) -> None:
    first = run(recipe, name="first")
    text = recipe.read_text()
    begin, end = text.index("[tokenizer]"), text.index("[batches]")
    tuned = recipe.with_name("tuned.toml")
    tuned.write_text(text[:begin] + f'[model]\nstart = "{first / "last"}"\n' + text[end:])
    low = ("train.rate=1e-9", "train.steps=1")
    second = run(tuned, *low, name="second")
    old, new = (open_checkpoint(folder / "last").network.state_dict() for folder in (first, second))
    for name in old:
        assert_near(old[name], new[name])
    wider = run(tuned, *low, "model.output_bias=true", name="third")
    assert open_checkpoint(wider / "last").config.output_bias  # type: ignore[union-attr]
    both = recipe.with_name("both.toml")
    both.write_text(tuned.read_text() + '\n[tokenizer]\nkind = "bytes"\n')
    with pytest.raises(ConfigurationError, match="has its own tokenizer"):
        run(both, name="fourth")


def test_a_recurrent_network_may_start_without_its_attention(tmp_path: Path) -> None:
    """What its fixed context does not need is left out; all other weights are those of the old one."""
    old = RecurrentTranslator(RecurrentConfig(20, width=8, embedding_width=4))
    save_checkpoint(old, tmp_path)
    table = {"kind": "recurrent", "start": str(tmp_path), "context": "fixed"}
    network, _ = build_network(table, None)  # type: ignore[arg-type]  # the task is not asked
    assert isinstance(network, RecurrentTranslator)
    assert network.config.context == "fixed"
    known = old.state_dict()
    assert 0 < len(network.state_dict()) < len(known)
    for name, tensor in network.state_dict().items():
        assert_near(tensor, known[name])
