"""A vocabulary learnt from text: byte-level BPE, WordPiece, Unigram, or simply every character or byte.

In:   texts, `VocabularySettings`.
Out:  a `LibraryTokenizer`; what it saves is opened by `open_tokenizer`, and by AutoTokenizer of transformers.

The same texts give the same vocabulary, in every process and with any number of threads. The library's own
trainers of WordPiece and Unigram do not: they go through a hash table whose order is random. So words are
counted by the library, sorted, and only then learnt from.
"""

import io
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

TEXT_LENGTH = 10_000  # characters of a text that is one word again and again
CHUNK = 1000  # texts handed to the library at a time
# Characters of a word, or of a run of blanks. Longer ones are learnt from in pieces: merging takes time with
# the square of the length, hours for a word of 3 MB.
LONGEST_WORD = 1000
LONG_RUN = re.compile(rf"\S{{{LONGEST_WORD}}}(?=\S)|\s{{{LONGEST_WORD}}}(?=\s)")
THREADS = 4  # of Unigram: a fixed number, on which the last digits of its sums depend
SEPARATORS = {"\t": "\U0010fff9", "\n": "\U0010fffa"}  # of SentencePiece's input, where words have them
LONGEST_PIECE = 16  # characters of a token of Unigram
# Chinese characters: the unified ideographs with their extensions, and those for compatibility; and the
# punctuation of Chinese text: ·, —, …, ⋯, 、 to 〿, small and full-width forms
HAN = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
    "\u00b7\u2014\u2026\u2027\u22ef\u3001-\u303f\ufe50-\ufe6b\uff01-\uffee]"
)

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
    """What to learn: the table `[tokenizer]` of a recipe."""

    kind: Kind = "bpe"
    # tokens, special ones included; less where the text yields fewer; the library allocates them all
    size: Annotated[int, Limits(least=1, most=2_000_000)] = 8000
    style: Style | None = None  # which special tokens there are; None: what the task wants
    lowercase: bool = False
    prefix_space: bool = False  # BPE: the first word of a text is spelt like those after a space
    least: Count = 2  # BPE, WordPiece: how often a pair must occur to be merged
    # BPE: every Chinese character and punctuation mark of the text is one token, never pieces of its bytes;
    # `size` is without them
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
    texts = _cut_long_words(texts)
    if settings.kind == "bpe":
        _train(library, texts, _build_trainer(settings, names))
    elif settings.kind == "wordpiece":
        library.model = models.WordPiece(
            _learn_wordpieces(count_words(library, texts), settings, names), unk_token=unknown
        )
        library.add_special_tokens(names)
    else:
        pieces = _learn_unigrams(count_words(library, texts), settings.size - len(names))
        known = [name.content for name in names]
        vocabulary = [
            *((name, 0.0) for name in known),
            *((p, score) for p, score in pieces if p not in known),
        ]
        library.model = models.Unigram(vocabulary, known.index(unknown or ""))
        library.add_special_tokens(names)
    if settings.han:
        library = _add_han(library, sorted(characters))
    return finish(library, special, style)


def _take_out_han(texts: Iterable[str], found: set[str]) -> Iterator[str]:
    """What is between the Chinese characters of the texts; the characters are put into `found`."""
    for text in texts:
        found.update(HAN.findall(text))
        yield from filter(None, HAN.split(text))


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


def _cut_long_words(texts: Iterable[str]) -> Iterator[str]:
    """The texts; one with a word (or a run of blanks) that is too long comes in several pieces."""
    for text in texts:
        start = 0
        for run in LONG_RUN.finditer(text):
            yield text[start : run.end()]
            start = run.end()
        yield text[start:] if start else text


def count_words(library: Tokenizer, texts: Iterable[str]) -> dict[str, int]:
    """How often each word occurs, after the library's normalisation and splitting; sorted by word."""
    counter = Tokenizer(models.BPE())
    if library.normalizer is not None:
        counter.normalizer = library.normalizer
    counter.pre_tokenizer = library.pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=0, show_progress=False)  # learns nothing, but counts
    _train(counter, texts, trainer)
    state: Any = trainer.__getstate__()
    return dict(sorted(json.loads(state)["BpeTrainer"]["words"].items()))


def _learn_wordpieces(
    words: dict[str, int], settings: VocabularySettings, special: list[AddedToken]
) -> dict[str, int]:
    """The merges of BPE where a character inside a word is another one than at its start: "##a", not "a".

    The library's trainer numbers "##a", "##b" … as it meets them, and decides between equally frequent pairs
    by these numbers. Named in advance they have a fixed order.
    """
    prefix = "##"
    first = sorted({word[0] for word in words})
    inside = sorted({letter for word in words for letter in word[1:]})
    alphabet = sorted({*first, *inside})
    known = [*(token.content for token in special), *alphabet]
    library = Tokenizer(models.WordPiece())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    named = [*known, *(prefix + letter for letter in inside)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=settings.size,
        min_frequency=settings.least,
        show_progress=False,
        special_tokens=named,
        continuing_subword_prefix=prefix,
    )
    _train(library, _repeat_words(words), trainer)
    learnt = json.loads(library.to_str())["model"]["vocab"]
    return dict(sorted(learnt.items(), key=lambda item: item[1]))


def _repeat_words(words: dict[str, int]) -> Iterator[str]:
    """Texts in which each word occurs as often as it was counted."""
    for word, count in words.items():
        at_once = max(1, TEXT_LENGTH // (len(word) + 1))
        for start in range(0, count, at_once):
            yield " ".join([word] * min(at_once, count - start))


def _learn_unigrams(words: dict[str, int], size: int) -> list[tuple[str, float]]:
    """Pieces and the logarithms of their probabilities, learnt by SentencePiece."""
    import sentencepiece

    out = io.BytesIO()
    there = str.maketrans(SEPARATORS)
    back = str.maketrans({stand_in: separator for separator, stand_in in SEPARATORS.items()})
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(f"{word.translate(there)}\t{count}" for word, count in words.items()),
            input_format="tsv",
            model_writer=out,
            model_type="unigram",
            vocab_size=size + 1,  # its own unknown token, which is left out
            max_sentencepiece_length=LONGEST_PIECE,
            max_sentence_length=8 * LONGEST_WORD,  # bytes
            num_threads=THREADS,
            character_coverage=1.0,
            hard_vocab_limit=False,  # less where the text yields fewer
            normalization_rule_name="identity",  # all of this is done by the library's parts
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            split_by_unicode_script=False,
            split_by_number=False,
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise InputError("text.no_vocabulary", reason=error) from error
    model = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    return [
        (model.id_to_piece(place).translate(back), model.get_score(place))
        for place in range(1, model.get_piece_size())
    ]


def _build_trainer(settings: VocabularySettings, special: list[AddedToken]) -> Any:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    counts = {"bytes": len(alphabet), "special": len(special), "least": len(alphabet) + len(special)}
    if settings.size < counts["least"]:
        raise ConfigurationError("text.size_for_bytes", size=settings.size, **counts)
    return trainers.BpeTrainer(
        vocab_size=settings.size,
        special_tokens=special,
        show_progress=False,
        initial_alphabet=sorted(alphabet),
        min_frequency=settings.least,
    )


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
