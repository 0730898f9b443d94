"""A vocabulary learnt from text: byte-level BPE, WordPiece, Unigram, or simply every character or byte.

In:   texts, `VocabularySettings`.
Out:  a `LibraryTokenizer`; what it saves is opened by `open_tokenizer`, and by AutoTokenizer of transformers.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Literal

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from glassformer.errors import ConfigurationError, GlassformerError, InputError
from glassformer.settings import Count, Limits, Settings
from glassformer.text.builders import build_bytes, build_characters
from glassformer.text.sequences import in_chunks
from glassformer.text.tokenizer import ROLES, LibraryTokenizer, Role

Kind = Literal["bpe", "wordpiece", "unigram", "characters", "bytes"]
Style = Literal["text", "sequence", "pair"]

CHUNK = 1000  # texts handed to the library at a time
# Chinese characters: 々, 〇, the unified ideographs with their extensions, and those for compatibility
HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")

# The special tokens of each style, in the order of their ids.
SPECIAL: dict[Style, dict[str, tuple[Role, ...]]] = {
    "text": {"<|endoftext|>": ("start", "end")},  # running text, as GPT-2's
    "sequence": {"<pad>": ("padding",), "<unk>": ("unknown",), "<s>": ("start",), "</s>": ("end",)},
    "pair": {  # one text or two, as BERT's
        "[PAD]": ("padding",),
        "[UNK]": ("unknown",),
        "[CLS]": ("class",),
        "[SEP]": ("separator",),
        "[MASK]": ("mask",),
    },
}

# What stands around one text and around two, and which tokens that takes. Running text has nothing.
FRAMES: dict[Style, tuple[str, str, tuple[str, ...]]] = {
    "sequence": ("$A </s>", "$A </s> $B:1 </s>:1", ("</s>",)),
    "pair": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ("[CLS]", "[SEP]")),
}


@dataclass(frozen=True, slots=True)
class VocabularySettings(Settings):
    """What to learn: the table `[tokenizer]` of a recipe.

    The same text gives the same BPE and WordPiece; the library's Unigram differs a little from run to run.
    """

    kind: Kind = "bpe"
    # tokens, special ones included; less where the text yields fewer; the library allocates them all
    size: Annotated[int, Limits(least=1, most=2_000_000)] = 8000
    style: Style | None = None  # which special tokens there are; None: what the task wants
    lowercase: bool = False
    prefix_space: bool = False  # BPE: the first word of a text is spelt like those after a space
    least: Count = 2  # BPE, WordPiece: how often a pair must occur to be merged
    # BPE: every Chinese character of the text is one token, never pieces of its bytes; `size` is without them
    han: bool = False
    han_also: str = ""  # with `han`: further characters that are to be tokens, though no text has them

    def check(self) -> None:
        if (self.han or self.han_also) and not (self.han and self.kind == "bpe"):
            raise ConfigurationError("text.han_is_for_bpe", kind=self.kind)


def train_vocabulary(
    texts: Iterable[str], settings: VocabularySettings, *, style: Style = "sequence", tags: Iterable[str] = ()
) -> LibraryTokenizer:
    """Learn a vocabulary; `tags` are further tokens that stand for no word, such as >>fr<<."""
    style = settings.style or style
    if settings.kind in ("characters", "bytes"):
        return _build_simple(texts, settings, style, tuple(tags))
    special = dict(SPECIAL[style])
    characters = set(settings.han_also)
    if settings.han:
        texts = _take_out_han(texts, characters)
    if settings.kind != "bpe" and style == "text":
        special["<unk>"] = ("unknown",)  # only bytes can spell everything
    # ">>fr<< Hello" is to be the tag and then the tokens of "Hello". So a tag takes the space behind it
    # along, unless the first word of a text is spelt with a space anyway.
    names = [AddedToken(name, special=True, normalized=False) for name in special]
    strip = settings.kind != "unigram"
    names += [AddedToken(name, special=True, normalized=False, rstrip=strip) for name in tags]
    unknown = next((name for name, roles in special.items() if "unknown" in roles), None)
    library = _outline(settings, unknown)
    _train(library, texts, _build_trainer(settings, names, unknown))
    if settings.han:
        library = _add_han(library, sorted(characters))
    return finish(library, special, style)


def _take_out_han(texts: Iterable[str], found: set[str]) -> Iterator[str]:
    """The texts without their Chinese characters, which are put into `found`."""
    for text in texts:
        found.update(HAN.findall(text))
        yield HAN.sub(" ", text)


def _add_han(library: Tokenizer, characters: Iterable[str]) -> Tokenizer:
    """A byte-level BPE in which each of these characters is a token."""
    described = json.loads(library.to_str())
    isolate = {"type": "Split", "pattern": {"Regex": HAN.pattern}, "behavior": "Isolated", "invert": False}
    described["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [isolate, described["pre_tokenizer"]],
    }
    described["model"]["ignore_merges"] = True  # a piece of text that is itself a token stays whole
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str
    vocabulary = described["model"]["vocab"]
    for character in characters:
        vocabulary.setdefault(spell(character)[0][0], len(vocabulary))
    return Tokenizer.from_str(json.dumps(described))


def finish(library: Tokenizer, special: dict[str, tuple[Role, ...]], style: Style) -> LibraryTokenizer:
    """Put around each text what its style has there, and name the roles."""
    if style in FRAMES:
        single, pair, used = FRAMES[style]
        library.post_processor = processors.TemplateProcessing(
            single=single, pair=pair, special_tokens=[(name, library.token_to_id(name)) for name in used]
        )
    roles: dict[str, Any] = {ROLES[role][0]: name for name, played in special.items() for role in played}
    return LibraryTokenizer(library, roles)


def _outline(settings: VocabularySettings, unknown: str | None) -> Tokenizer:
    """The parts around a vocabulary that is still empty."""
    if settings.kind == "bpe":
        library = Tokenizer(models.BPE())
        library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=settings.prefix_space)
        library.decoder = decoders.ByteLevel()
    elif settings.kind == "wordpiece":
        assert unknown is not None
        library = Tokenizer(models.WordPiece(unk_token=unknown))
        library.normalizer = normalizers.BertNormalizer(lowercase=settings.lowercase)
        library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        library.decoder = decoders.WordPiece()
        return library
    else:
        library = Tokenizer(models.Unigram())
        # Punctuation apart: without it training can end in "likelihood is NAN" on text such as source code.
        parts = [pre_tokenizers.Punctuation(), pre_tokenizers.Metaspace(prepend_scheme="first")]
        library.pre_tokenizer = pre_tokenizers.Sequence(parts)
        library.decoder = decoders.Metaspace(prepend_scheme="first")
    if settings.lowercase:
        library.normalizer = normalizers.Lowercase()
    return library


def _build_trainer(settings: VocabularySettings, special: list[AddedToken], unknown: str | None) -> Any:
    common: dict[str, Any] = {
        "vocab_size": settings.size, "special_tokens": special, "show_progress": False
    }  # fmt: skip
    if settings.kind == "unigram":
        return trainers.UnigramTrainer(unk_token=unknown, **common)
    if settings.kind == "wordpiece":
        return trainers.WordPieceTrainer(min_frequency=settings.least, **common)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    counts = {"bytes": len(alphabet), "special": len(special), "least": len(alphabet) + len(special)}
    if settings.size < counts["least"]:
        raise ConfigurationError("text.size_for_bytes", size=settings.size, **counts)
    return trainers.BpeTrainer(initial_alphabet=sorted(alphabet), min_frequency=settings.least, **common)


def _train(library: Any, texts: Iterable[str], trainer: Any) -> None:
    try:
        library.train_from_iterator(_chunks(texts), trainer=trainer)
    except (GlassformerError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the library can panic, and a panic is no Exception
        raise InputError("text.no_vocabulary", reason=error) from error


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunks = in_chunks(texts, CHUNK)
    first = next(chunks, None)
    if first is None:
        raise InputError("text.no_training_text")
    yield from chain([first], chunks)


def _build_simple(
    texts: Iterable[str], settings: VocabularySettings, style: Style, tags: tuple[str, ...]
) -> LibraryTokenizer:
    """One token for each character that occurs, or for each byte: nothing to learn."""
    if settings.lowercase or tags:
        raise ConfigurationError("text.no_lowercase_or_tags", kind=settings.kind)
    start, end = style == "pair", style != "text"
    if settings.kind == "bytes":
        return build_bytes(start=start, end=end)
    return build_characters("".join(sorted(set().union(*texts))), start=start, end=end)
