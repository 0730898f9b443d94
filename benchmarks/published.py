"""Models of published size in the page: seconds until the map of a run shows, memory of server and worker.

In:   a built page (web/), Chromium, Playwright, psutil, sentencepiece; a folder for 1.2 GB of models.
Out:  rows for benchmarks/results.md.

    python benchmarks/published.py /tmp/published          # pictures of the page with --pictures FOLDER

The folders are written by `transformers` with random weights; their tokenizers have the vocabulary sizes of
the published ones, learnt from the documents of this repository and filled up with pieces that no text has.
"""

import argparse
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from urllib.request import urlopen

import psutil
import sentencepiece
import tokenizers
import torch
import transformers
from playwright.sync_api import Browser, sync_playwright
from serving import serving
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).parent.parent
TEXT = "The animal didn't cross the street because it was too tired."
LEARNT = 3000  # pieces that are learnt; the others fill the vocabulary up
LIMIT = 300_000  # milliseconds that a run may take
MEGABYTE = 1_000_000
ENDS = "value => value.endsWith('/NAME')"


def read_documents() -> list[str]:
    """English text to learn pieces from."""
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))]


def fill_up(pieces: list[str], size: int) -> list[str]:
    """Pieces up to a size; those that fill are no text."""
    return [*pieces, *(f"[filler{number}]" for number in range(size - len(pieces)))]


def build_byte_level(folder: Path, size: int) -> None:
    """GPT-2's kind of tokenizer."""
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    library.train_from_iterator(
        read_documents(),
        trainers.BpeTrainer(vocab_size=LEARNT, initial_alphabet=alphabet, show_progress=False),  # type: ignore[call-arg]
    )
    described = json.loads(library.to_str())
    pieces = sorted(described["model"]["vocab"], key=described["model"]["vocab"].get)
    filled = [*fill_up(pieces, size - 1), "<|endoftext|>"]
    described["model"]["vocab"] = {piece: number for number, piece in enumerate(filled)}
    library = tokenizers.Tokenizer.from_str(json.dumps(described))
    end = "<|endoftext|>"
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=library, bos_token=end, eos_token=end, unk_token=end
    ).save_pretrained(folder)


def build_word_pieces(folder: Path, size: int) -> None:
    """BERT's kind of tokenizer."""
    special = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    words = sorted({word for text in read_documents() for word in re.findall("[a-z]+", text.lower())})
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"-()"
    pieces = [*special.values(), *letters, *(f"##{letter}" for letter in letters), *words]
    filled = fill_up(list(dict.fromkeys(pieces))[:size], size)
    library = tokenizers.Tokenizer(
        models.WordPiece(vocab={piece: number for number, piece in enumerate(filled)}, unk_token="[UNK]")
    )
    library.normalizer = normalizers.BertNormalizer(lowercase=True)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    _surround(library, filled)
    _save_special(library, special, folder)


def build_unigram(folder: Path, size: int) -> None:
    """ALBERT's kind of tokenizer."""
    special = {"pad": "<pad>", "unk": "<unk>", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    library = tokenizers.Tokenizer(models.Unigram())
    library.normalizer = normalizers.Lowercase()
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=LEARNT, special_tokens=list(special.values()), unk_token="<unk>", show_progress=False
    )
    library.train_from_iterator(read_documents(), trainer)
    described = json.loads(library.to_str())
    scores = dict(described["model"]["vocab"])
    filled = fill_up(list(scores), size)
    described["model"]["vocab"] = [[piece, scores.get(piece, -99.0)] for piece in filled]
    library = tokenizers.Tokenizer.from_str(json.dumps(described))
    library.decoder = decoders.Metaspace()
    _surround(library, filled)
    _save_special(library, special, folder)


def _surround(library: tokenizers.Tokenizer, pieces: list[str]) -> None:
    """[CLS] and [SEP] around one text or two."""
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, pieces.index(name)) for name in ("[CLS]", "[SEP]")],
    )


def _save_special(library: tokenizers.Tokenizer, special: dict[str, str], folder: Path) -> None:
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=library, **{f"{role}_token": piece for role, piece in special.items()}
    ).save_pretrained(folder)


def build_marian(folder: Path, size: int) -> None:
    """opus-mt's kind: SentencePiece models of both sides and one list of pieces."""
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(read_documents()), encoding="utf-8")
    prefix = folder / "source"
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(prefix), vocab_size=LEARNT, character_coverage=1.0, minloglevel=2
    )
    trained = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
    learnt = [trained.id_to_piece(number) for number in range(trained.get_piece_size())]
    pieces = ["</s>", "<unk>", *(piece for piece in learnt if piece not in ("</s>", "<unk>", "<s>"))]
    filled = [*fill_up(pieces, size - 1), "<pad>"]
    listed = json.dumps({piece: number for number, piece in enumerate(filled)})
    (folder / "vocab.json").write_text(listed, encoding="utf-8")
    spoken = Path(f"{prefix}.model").read_bytes()
    for side in ("source", "target"):
        (folder / f"{side}.spm").write_bytes(spoken)
    settings = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    for rest in (corpus, Path(f"{prefix}.model"), Path(f"{prefix}.vocab")):
        rest.unlink()


def build_gpt2() -> transformers.PreTrainedModel:
    """GPT-2 small."""
    return transformers.GPT2LMHeadModel(transformers.GPT2Config())


def build_bert() -> transformers.PreTrainedModel:
    """BERT base."""
    return transformers.BertForMaskedLM(transformers.BertConfig())


def build_albert() -> transformers.PreTrainedModel:
    """ALBERT base, version 2."""
    config = transformers.AlbertConfig(
        hidden_size=768, num_attention_heads=12, intermediate_size=3072, pad_token_id=0
    )
    return transformers.AlbertForMaskedLM(config)


def build_opus() -> transformers.PreTrainedModel:
    """The shape of opus-mt-en-de."""
    last = 58_100
    config = transformers.MarianConfig(
        vocab_size=last + 1, d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, max_position_embeddings=512,
        activation_function="swish", scale_embedding=True, static_position_embeddings=True,
        pad_token_id=last, decoder_start_token_id=last, eos_token_id=0, forced_eos_token_id=0,
        max_length=64, num_beams=4,
    )  # fmt: skip
    return transformers.MarianMTModel(config)


Model = Callable[[], transformers.PreTrainedModel]
FOLDERS: dict[str, tuple[Model, Callable[[Path, int], None]]] = {
    "gpt2-small": (build_gpt2, build_byte_level),
    "bert-base": (build_bert, build_word_pieces),
    "albert-base": (build_albert, build_unigram),
    "opus-mt": (build_opus, build_marian),
}


def write_folders(place: Path) -> None:
    """The four models, where they are not there yet."""
    for name, (build, write_tokenizer) in FOLDERS.items():
        folder = place / name
        if (folder / "config.json").exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)
        model = build()
        write_tokenizer(folder, int(model.config.vocab_size))
        model.save_pretrained(folder)


def read_peak(process: psutil.Process) -> int:
    """The largest resident memory that a process has had, in bytes (Linux)."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def find_worker(server: psutil.Process) -> psutil.Process:
    """The largest child: the process that has the model."""
    return max(server.children(recursive=True), key=read_peak)


def measure(browser: Browser, address: str, server: psutil.Process, name: str, pictures: Path | None) -> str:
    """Run a model twice in the page, the second time with the model loaded; a row."""
    page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page.goto(address)
    find = f"() => [...document.querySelectorAll('[data-field=model] option')].map(o => o.value).find({ENDS})"
    value = page.wait_for_function(find.replace("NAME", name), timeout=LIMIT).json_value()
    page.wait_for_url(lambda url: _recording(url) != "", timeout=LIMIT)  # what ships is shown first
    page.get_by_label("Model", exact=True).select_option(value)
    seconds = []
    for text in (TEXT, TEXT.replace("animal", "horse")):
        page.get_by_label("Text", exact=True).fill(text)
        before = page.url
        start = time.perf_counter()
        page.get_by_role("button", name="Run model").click()
        page.wait_for_url(lambda url, before=before: _recording(url) != _recording(before), timeout=LIMIT)
        page.locator("[data-part=progress]").wait_for(state="detached", timeout=LIMIT)
        page.locator("canvas").first.wait_for(timeout=LIMIT)
        seconds.append(time.perf_counter() - start)
        if pictures is not None:
            page.wait_for_timeout(2000)
            page.screenshot(path=pictures / f"{name}-{len(seconds)}.png")
    page.close()
    worker = find_worker(server)
    spent = worker.cpu_times().user + worker.cpu_times().system
    peaks = [f"{read_peak(each) / MEGABYTE:,.0f} MB" for each in (server, worker)]
    cells = (name, *(f"{each:.1f}" for each in (*seconds, spent)), *peaks)
    return f"| {' | '.join(cells)} |"


def _recording(address: str) -> str:
    found = re.search(r"recording=([^&]*)", address)
    return found[1] if found else ""


def main() -> None:
    """Write, serve, run each model in the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--models", nargs="+", choices=list(FOLDERS), default=list(FOLDERS))
    arguments = parser.parse_args()
    write_folders(arguments.folder)
    if arguments.pictures is not None:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    print("| model | first run, s | second, s | worker, CPU s of both | server, peak | worker, peak |")
    print("|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in arguments.models:
            options = ("--offline", "--models", str(arguments.folder))
            with serving(*options) as (address, process):  # a new worker, so that peaks are its own
                with urlopen(address) as answer:
                    assert answer.status == 200
                server = psutil.Process(process.pid)
                print(measure(browser, address, server, name, arguments.pictures), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
