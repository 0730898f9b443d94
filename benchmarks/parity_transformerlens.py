r"""Edits, attributions and paths beside TransformerLens, with the same weights, in double precision.

In:   torch and transformers; a folder with TransformerLens and what it needs (`pip install --target`).
Out:  rows for benchmarks/results.md: the largest difference of each comparison. Exit code 1 above 1e-10.

    python benchmarks/parity_transformerlens.py --peers /path/of/folder
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import transformers as hf
from torch import Tensor

import glassformer as gf

LAYERS, HEADS, WIDTH, VOCABULARY = 4, 4, 16, 100
CLEAN, OTHER = [7, 9, 11, 6, 8, 12, 40], [12, 5, 13, 9, 7, 6, 41]
ONE, TWO, LARGEST = 7, 9, 1e-10
AT = (2, -1)
Hooks = list[tuple[str, Callable[..., Any]]]


def make_models() -> tuple[Any, Any]:
    """A small GPT-2 with random weights that attends to something, and the same in TransformerLens."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig
    from transformer_lens.pretrained.weight_conversions import convert_gpt2_weights

    torch.manual_seed(0)
    config = hf.GPT2Config(
        vocab_size=VOCABULARY, n_embd=HEADS * WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=32,
        attn_implementation="eager",
    )  # fmt: skip
    model = hf.GPT2LMHeadModel(config).double().eval()
    for weight in model.parameters():
        if weight.dim() == 2:
            weight.mul_(5)
    theirs = HookedTransformer(
        HookedTransformerConfig(
            n_layers=LAYERS,
            d_model=HEADS * WIDTH,
            n_ctx=32,
            d_head=WIDTH,
            n_heads=HEADS,
            d_vocab=VOCABULARY,
            act_fn="gelu_new",
            normalization_type="LN",
            device="cpu",
            dtype=torch.float64,
        )
    )
    state = theirs.state_dict() | convert_gpt2_weights(model, theirs.cfg)
    theirs.load_state_dict({name: value.double() for name, value in state.items()})
    return model, theirs.double().eval()


class Lens:
    """TransformerLens on one of two texts."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.clean, self.other = (model.run_with_cache(torch.tensor([ids]))[1] for ids in (CLEAN, OTHER))

    def run(self, hooks: Hooks) -> Tensor:
        """Logits (token, vocabulary) of the clean text."""
        return self.model.run_with_hooks(torch.tensor([CLEAN]), fwd_hooks=hooks)[0]

    def put(self, name: str, at: Any = slice(None), head: int | None = None) -> Hooks:
        """What the other text has, put into the clean one."""
        return [put(name, self.other[name], at, head)]


def put(name: str, found: Tensor, at: Any = slice(None), head: int | None = None) -> tuple[str, Any]:
    """A hook that puts rows of (batch, token, …), of one head or of all, in place of what is there."""

    def change(tensor: Tensor, hook: Any) -> Tensor:  # noqa: ARG001
        place = (slice(None), at) if head is None else (slice(None), at, head)
        tensor[place] = found[place]
        return tensor

    return name, change


def compare_edits(lens: Lens) -> Iterator[tuple[str, gf.AblateHead | Any, Tensor]]:
    """A name, an edit, and the logits of TransformerLens."""
    rows = list(AT)
    for layer in range(LAYERS):
        block = f"blocks.{layer}"
        for head in range(HEADS):
            place = ("decoder", "self", layer, head)
            zero = [
                put(f"{block}.attn.hook_z", torch.zeros_like(lens.clean[f"{block}.attn.hook_z"]), head=head)
            ]
            yield "heads silenced (hook_z)", gf.AblateHead(*place), lens.run(zero)
            patched = lens.run(lens.put(f"{block}.attn.hook_z", rows, head))
            yield "heads patched (hook_z)", gf.PatchHead(*place, tuple(OTHER), AT), patched
            values = lens.run(lens.put(f"{block}.attn.hook_v", rows, head))
            yield "values patched (hook_v)", gf.PatchValue(*place, tuple(OTHER), AT), values
            pattern = lens.other[f"{block}.attn.hook_pattern"]

            def look(tensor: Tensor, hook: Any, pattern: Tensor = pattern, head: int = head) -> Tensor:  # noqa: ARG001
                tensor[:, head, rows] = pattern[:, head, rows]
                return tensor

            looked = lens.run([(f"{block}.attn.hook_pattern", look)])
            yield "patterns patched (hook_pattern)", gf.PatchPattern(*place, tuple(OTHER), AT), looked
        for part, hook in (("residual", "hook_resid_pre"), ("feed_forward", "hook_mlp_out")):
            edit = gf.PatchStates("decoder", part, layer, tuple(OTHER), AT)  # type: ignore[arg-type]
            yield f"states patched ({hook})", edit, lens.run(lens.put(f"{block}.{hook}", rows))


def compare_paths(lens: Lens) -> Iterator[tuple[str, Any, Tensor]]:
    """Path patching by hooks: the sender replaced, all other heads frozen, what receivers get put back."""
    for layer, head in ((0, 1), (1, 2)):
        for frozen in (False, True):
            hooks: Hooks = []
            for each in range(LAYERS):
                name = f"blocks.{each}.attn.hook_z"
                values = lens.clean[name].clone()
                if each == layer:
                    values[:, :, head] = lens.other[name][:, :, head]
                hooks.append(put(name, values))
                if frozen:
                    name = f"blocks.{each}.hook_mlp_out"
                    hooks.append(put(name, lens.clean[name]))
            named = {"feed_forward": "frozen" if frozen else "recomputed"}
            last = LAYERS - 1
            for receiver, name, at in (
                (f"decoder.self.{last}.0.queries", f"blocks.{last}.attn.hook_q", 0),
                (f"decoder.self.{last}.1.keys", f"blocks.{last}.attn.hook_k", 1),
                (f"decoder.self.{last}.2.values", f"blocks.{last}.attn.hook_v", 2),
                ("decoder.residual", f"blocks.{last}.hook_resid_post", None),
            ):
                kept: list[Tensor] = []
                reading: Hooks = [(name, lambda tensor, hook: kept.append(tensor.clone()))]  # noqa: B023, ARG005
                lens.run([*hooks, *reading])
                edit = gf.PatchPath("decoder", "self", layer, head, tuple(OTHER), (receiver,), **named)  # type: ignore[arg-type]
                yield (
                    "paths patched (hook_z, hook_q, hook_k, hook_v, hook_resid_post)",
                    edit,
                    lens.run([put(name, kept[-1], head=at)]),
                )


def measure(model: Any, cases: Sequence[tuple[str, Any, Tensor]]) -> dict[str, tuple[float, float]]:
    """By name: the largest difference of logits and log-probabilities, and how much the edits change them."""
    outcomes = [gf.LogitDifference(ONE, TWO, at) for at in range(len(CLEAN))]
    outcomes += [gf.LogProbability(ONE, at) for at in range(len(CLEAN))]  # type: ignore[misc]
    sweeps = gf.sweep(model, CLEAN, outcome=outcomes, edits=[edit for _, edit, _ in cases])
    worst: dict[str, tuple[float, float]] = {}
    for number, (name, _, logits) in enumerate(cases):
        wanted = torch.cat((logits[:, ONE] - logits[:, TWO], logits.log_softmax(-1)[:, ONE]))
        found = torch.tensor([each.values[number] for each in sweeps], dtype=torch.float64)
        effect = max(abs(float(each.effects[number])) for each in sweeps)
        difference, most = worst.get(name, (0.0, 0.0))
        worst[name] = max(difference, float((found - wanted).abs().max())), max(most, effect)
    return worst


def measure_attribution(model: Any, lens: Lens) -> tuple[float, float]:
    """Direct logit attribution of heads, by `stack_head_results` and the scale of the last norm."""
    found = gf.attribute_logits(model, CLEAN, outcome=gf.LogitDifference(ONE, TWO))
    lens.model.set_use_attn_result(True)
    cache = lens.model.run_with_cache(torch.tensor([CLEAN]))[1]
    results = cache.stack_head_results(layer=-1, pos_slice=-1)[:, 0]  # (layer · head, width)
    scaled = (results - results.mean(-1, keepdim=True)) / cache["ln_final.hook_scale"][0, -1]
    unembed = lens.model.unembed.W_U
    direction = lens.model.ln_final.w * (unembed[:, ONE] - unembed[:, TWO])
    wanted = (scaled @ direction).reshape(LAYERS, HEADS)
    places = [gf.Place("decoder", "self", layer) for layer in range(LAYERS)]
    ours = torch.stack([torch.tensor(found.heads[place], dtype=torch.float64) for place in places])
    return float((ours - wanted).abs().max()), float(wanted.abs().max())


def main() -> None:
    """All comparisons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", required=True, help="folder with TransformerLens")
    words = parser.parse_args()
    sys.path.append(words.peers)
    torch.set_grad_enabled(False)
    model, theirs = make_models()
    lens, loaded = Lens(theirs), gf.load(model)
    plain = lens.run([])
    apart = float((model(torch.tensor([CLEAN])).logits[0] - plain).abs().max())
    differences = {"logits without edits": (apart, float(plain.abs().max()))}
    differences |= measure(loaded, [*compare_edits(lens), *compare_paths(lens)])
    differences["direct logit attribution (stack_head_results)"] = measure_attribution(loaded, lens)
    print("| compared | largest difference | largest effect or value |\n|---|---|---|")
    for name, (difference, most) in differences.items():
        print(f"| {name} | {difference:.1e} | {most:.2g} |")
    idle = any(most < 1e3 * LARGEST for _, most in differences.values())  # then nothing was compared
    sys.exit(idle or max(difference for difference, _ in differences.values()) > LARGEST)


if __name__ == "__main__":
    main()
