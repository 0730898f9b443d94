"""Attributions beside those of Captum and TransformerLens, on the same weights.

In:   folders with Captum and TransformerLens and what they need (`pip install --target`).
Out:  how far apart they are: heads' parts of a logit difference in float32, tokens' scores in float64.

    python benchmarks/attribution_peers.py FOLDER…
"""

import sys
from typing import Any

import numpy as np
import torch
import transformers as hf

import glassformer as gf

IDS, ONE, OTHER = [7, 9, 11, 6, 8, 12], 7, 9
LAYERS, HEADS, WIDTH, VOCABULARY = 3, 4, 8, 30
OUTCOME = gf.LogitDifference(ONE, OTHER)


def make_model() -> Any:
    """A small GPT-2 whose attention is sharp and whose biases are not 0."""
    torch.manual_seed(0)
    config = hf.GPT2Config(
        vocab_size=VOCABULARY, n_embd=HEADS * WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=32
    )
    model = hf.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
            else:
                parameter.mul_(5)
    return model


def compare_lens(model: Any) -> float:
    """`stack_head_results` through the last norm, against `attribute_logits`."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig
    from transformer_lens.pretrained.weight_conversions import convert_gpt2_weights

    config = HookedTransformerConfig(
        n_layers=LAYERS, d_model=HEADS * WIDTH, n_ctx=32, d_head=WIDTH, n_heads=HEADS, d_vocab=VOCABULARY,
        d_mlp=4 * HEADS * WIDTH, act_fn="gelu_new", normalization_type="LN", device="cpu",
        original_architecture="GPT2LMHeadModel", default_prepend_bos=False,
    )  # fmt: skip
    lens = HookedTransformer(config)
    lens.load_and_process_state_dict(
        convert_gpt2_weights(model, config),
        fold_ln=True,
        center_writing_weights=False,
        center_unembed=False,
        fold_value_biases=False,
    )
    lens.set_use_attn_result(True)
    _, cache = lens.run_with_cache(torch.tensor([IDS]))
    stack = cache.stack_head_results(layer=-1, pos_slice=-1)
    scaled = cache.apply_ln_to_stack(stack, layer=-1, pos_slice=-1)
    theirs = (scaled @ (lens.W_U[:, ONE] - lens.W_U[:, OTHER])).detach()[:, 0].view(LAYERS, HEADS).numpy()
    ours = np.stack([*gf.attribute_logits(model, IDS, outcome=OUTCOME).heads.values()])
    return float(np.abs(ours - theirs).max())


def compare_captum(model: Any) -> tuple[float, float]:
    """Integrated gradients and gradient × input."""
    from captum.attr import InputXGradient, IntegratedGradients

    model = model.double()
    given = model.transformer.wte(torch.tensor([IDS])).detach().requires_grad_()

    def measure(embeddings: Any) -> Any:
        logits = model(inputs_embeds=embeddings).logits[:, -1]
        return logits[:, ONE] - logits[:, OTHER]

    integrated = IntegratedGradients(measure).attribute(
        given, torch.zeros_like(given), n_steps=32, method="gausslegendre", internal_batch_size=1
    )
    theirs = [integrated, InputXGradient(measure).attribute(given)]
    ours = [
        gf.attribute(model, IDS, outcome=OUTCOME, method="integrated_gradients", steps=32),
        gf.attribute(model, IDS, outcome=OUTCOME, method="gradient_input"),
    ]
    first, second = (
        float(np.abs(each.scores["source"] - other.sum(-1)[0].detach().numpy()).max())
        for each, other in zip(ours, theirs, strict=True)
    )
    return first, second


if __name__ == "__main__":
    sys.path += sys.argv[1:]
    subject = make_model()
    print(f"attribute_logits, TransformerLens stack_head_results, float32: {compare_lens(subject):.2g}")
    integrals, products = compare_captum(subject)
    print(f"integrated_gradients, Captum, float64: {integrals:.2g}; gradient_input: {products:.2g}")
