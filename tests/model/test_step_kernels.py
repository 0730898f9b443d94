"""Each kernel on its own against float64, on sizes that fill no block."""

import pytest
import torch
from torch import nn

from glassformer.config import ModelConfig
from glassformer.model.fused_step import FusedStep, Stream
from glassformer.model.layers import ACTIVATIONS, LayerNorm
from glassformer.model.run_ahead import Chooser
from glassformer.model.transformer import Transformer
from tolerances import assert_near


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [1, 5, 40])
@pytest.mark.parametrize(("inputs", "outputs"), [(70, 130), (768, 2304), (3000, 70)])
@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
@torch.inference_mode()
def test_products_with_all_that_belongs_to_them(
    rows: int, inputs: int, outputs: int, activation: str | None
) -> None:
    torch.manual_seed(rows)
    network = Transformer(ModelConfig(40, shape="decoder", width=32, heads=4, layers=1)).cuda()
    step = FusedStep(network, None)
    states, weight = (
        torch.randn(rows, inputs, device="cuda"),
        torch.randn(outputs, inputs, device="cuda") / 30,
    )
    bias, added = torch.randn(outputs, device="cuda"), torch.randn(rows, outputs, device="cuda")
    norms = [LayerNorm(size, device="cuda") for size in (inputs, outputs)]
    for parameter in (each for norm in norms for each in norm.parameters()):
        nn.init.normal_(parameter)
    function = None if activation is None else ACTIVATIONS[activation]
    normed = norms[0] if inputs <= 2048 else None
    seen = step._product(Stream(states, normed), weight, bias, function, Stream(added, norms[1]))
    exact = states.double() if normed is None else normed.double()(states.double())
    exact = exact @ weight.double().t() + bias.double()
    exact = (exact if function is None else function(exact)) + norms[1].double()(added.double())
    assert_near(seen.cpu(), exact.cpu(), operations=3, summands=inputs)


@pytest.mark.gpu
def test_the_first_of_equals_is_chosen_and_what_is_banned_is_not() -> None:
    class Search:
        pass

    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.model.sampling import Rules

    search, start = Search(), Search()
    settings = GenerationSettings(max_new_tokens=3, min_new_tokens=1, forbidden=(4,))
    start.rules, start.end_id, start.limits = Rules(settings, 2), 2, [3, 3]
    search.start, search.settings, search.rows, search.uniforms = start, settings, [0, 1], None
    search.totals = torch.zeros(2, device="cuda")
    search.trace, search.decoding = Search(), Search()
    search.trace.steps = []
    logits = torch.randn(2, 5000, device="cuda")
    logits[0, [2, 4, 7, 3000]] = 9.0  # the end too early, a banned word, two equals
    logits[1, 4999] = 9.0
    search.decoding.logits = logits
    chooser = Chooser(search, torch.zeros(2, 1, dtype=torch.long, device="cuda"))  # type: ignore[arg-type]
    assert chooser.plain
    chooser(logits)
    allowed = logits.double()
    allowed[:, [2, 4]] = -torch.inf
    wanted = allowed.log_softmax(-1)
    assert chooser.ids.flatten().tolist() == [7, 4999]
    assert_near(chooser.log_probabilities[:, 0].cpu(), wanted[[0, 1], [7, 4999]].cpu(), summands=5000)
    chooser(logits)
    assert chooser.ids.flatten().tolist() == [2, 4999]  # the end may come now
    assert chooser.running.tolist() == [0, 1]
    assert_near(chooser.totals[:, 1].cpu(), chooser.log_probabilities[:, :2].sum(1).cpu())
