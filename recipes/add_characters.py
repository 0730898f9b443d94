"""A translator whose tokenizer knows more characters: the fifth step of zoo/translator.

    python recipes/add_characters.py zoo/translator runs/translator-characters

In:   a folder with a byte-level BPE (han = true) and Marian weights.
Out:  a folder with the same network, in whose tokenizer the characters below are tokens, too. Their vectors
      are the mean of the pieces that they were before; they take the places of tokens that no text uses (runs
      of blanks). Train on from it.
"""

import argparse
import json
import re
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, pre_tokenizers

from glassformer.text.vocabulary import HAN
from glassformer.weights.hub import find_folder

CHARACTERS = "，？！、：—汀（）；茜…·【】⋯《》﹣－％＂『』１８６Ｑ３５‧０﹐～"
UNUSED = re.compile("ĠĠ+|ĠãĢģ|ĠãĢĤâĢĿ")  # runs of blanks, and marks that a blank preceded


def main() -> None:
    """Write the changed folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    source = find_folder(given.model)
    shutil.copytree(source, given.target, dirs_exist_ok=True)
    before = Tokenizer.from_file(str(source / "tokenizer.json"))
    described = json.loads(before.to_str())
    model = described["model"]
    free = sorted(number for token, number in model["vocab"].items() if UNUSED.fullmatch(token))
    model["vocab"] = {token: number for token, number in model["vocab"].items() if number not in free}
    model["merges"] = [pair for pair in model["merges"] if not UNUSED.fullmatch("".join(pair))]
    described["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = HAN.pattern
    weights = load_file(source / "model.safetensors")
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str
    size = before.get_vocab_size()
    places = [*free, *range(size, size + len(CHARACTERS) - len(free))]
    for name, dim in (("model.shared.weight", 0), ("final_logits_bias", 1)):
        old = weights[name].transpose(0, dim)
        new = old.new_zeros(max(size, places[-1] + 1), *old.shape[1:])
        new[:size] = old
        for character, place in zip(CHARACTERS, places, strict=True):
            pieces = before.encode(character, add_special_tokens=False).ids
            new[place] = old[pieces].float().mean(dim=0)
        weights[name] = new.transpose(0, dim).contiguous()
    for character, place in zip(CHARACTERS, places, strict=True):
        model["vocab"][spell(character)[0][0]] = place
    model["vocab"] = dict(sorted(model["vocab"].items(), key=lambda item: item[1]))
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":"))
    (given.target / "tokenizer.json").write_text(text, encoding="utf-8")
    config = json.loads((source / "config.json").read_text())
    config["vocab_size"] = config["decoder_vocab_size"] = len(model["vocab"])
    (given.target / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    save_file(weights, given.target / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()
