"""Greedy decoding on a GPU in bf16, batch 1, beside transformers' generate: GPT-2 small and Marian size.

python benchmarks/decoding_gpu.py [--new 128] [--repeats 15]
"""

import argparse
import tempfile

import torch
from decoding import SOURCE, build_marian
from measure import compare, print_rows
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedModel

from glassformer.model.generate import GenerationSettings, generate
from glassformer.model.transformer import Transformer
from glassformer.weights.checkpoint import open_checkpoint


def build_gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config()).eval()
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = 50256
    return model


def open_as_ours(model: PreTrainedModel) -> Transformer:
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        network = open_checkpoint(folder).network
    assert isinstance(network, Transformer)
    return network.cuda().bfloat16()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--new", type=int, default=128)
    options.add_argument("--repeats", type=int, default=15)
    chosen = options.parse_args()
    length = {"max_new_tokens": chosen.new, "min_new_tokens": chosen.new}
    for title, reference in (("GPT-2 small", build_gpt2()), ("Marian size", build_marian())):
        ours = open_as_ours(reference)
        check = (ours.float(), reference.float().cuda())
        ids = torch.randint(2, 31_000, (1, SOURCE), device="cuda")
        theirs = check[1].generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, **length)
        mine = generate(check[0], ids, settings=GenerationSettings(**length))[0]
        agree = theirs[0, -chosen.new :].tolist() == [int(token) for token in mine.ids][-chosen.new :]
        print(f"{title}: float32 greedy tokens {'agree' if agree else 'DIFFER'}")
        ours.bfloat16()
        reference.bfloat16()
        for beams in (1, 5):
            settings = GenerationSettings(beams=beams, **length)
            timings = compare(
                {
                    "transformers": lambda: reference.generate(
                        ids, attention_mask=torch.ones_like(ids), do_sample=False, num_beams=beams, **length
                    ),
                    "glassformer": lambda: generate(ours, ids, settings=settings),
                },
                repeats=chosen.repeats,
                settle=torch.cuda.synchronize,
            )
            name = f"{title}, bf16, {'greedy' if beams == 1 else f'beam {beams}'}, batch 1, {chosen.new} new tokens"
            print_rows(name, timings, work=chosen.new, unit="tokens", machine=torch.cuda.get_device_name())


if __name__ == "__main__":
    main()
