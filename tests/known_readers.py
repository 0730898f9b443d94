"""Networks whose heads know words by construction: grammar, pronouns, pieces of words, translations.

Every query looks at a token that its own names (a table of pairs), or at a place, by weights set by hand.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from glassformer.corpus.atlas.texts import MarkedText, from_pair
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.metrics.gold import AlignedPair, Sentence, Word
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.text.tokenizer import LibraryTokenizer
from known_heads import build_blank

Pairs = Iterable[tuple[str, str]]  # the token of a query, and the token that it looks at
LENGTH = 32  # positions
SHARP = 3.0

SUBJECTS, VERBS, OBJECTS = ([f"{letter}{number}" for number in range(4)] for letter in "svo")
OTHERS = [f"f{number}" for number in range(6)]
PERSONS = {"she": ("ann", "bea"), "he": ("carl", "dan")}
GRAMMAR: Mapping[str, Pairs] = {
    "governor:obj": [(each, verb) for each in OBJECTS for verb in VERBS],
    "dependent:nsubj": [(verb, each) for verb in VERBS for each in SUBJECTS],
    "coreference": [(pronoun, name) for pronoun, names in PERSONS.items() for name in names],
}


def build_reader() -> LoadedModel:
    """An encoder with one layer: a head for each entry of GRAMMAR, and one that looks everywhere."""
    names = [name for both in PERSONS.values() for name in both]
    words = build_words([*SUBJECTS, *VERBS, *OBJECTS, *OTHERS, *PERSONS, *names])
    network = _build(words, "encoder", "masked")
    attention = network.encoder.block(0).attention
    width = network.config.width
    with torch.no_grad():
        query, key, _ = attention.qkv.weight.split(width)
        for head, pairs in enumerate(GRAMMAR.values()):
            _look_at(words, query, key, head, pairs)
    return load(network, words)


def write_sentences(count: int, seed: int = 0) -> list[MarkedText]:
    """Subject, verb and object in any order, between other words; a person and a pronoun that means them."""
    randomness = np.random.default_rng(seed)
    return [_write_sentence(randomness) for _ in range(count)]


def _write_sentence(randomness: np.random.Generator) -> MarkedText:
    """Pronouns come last of all, so that both persons stand before them."""

    def draw(words: Iterable[str], size: int = 1) -> list[str]:
        return randomness.choice(list(words), size, replace=False).tolist()

    pronoun = draw(PERSONS)[0]
    persons = [draw(both)[0] for both in PERSONS.values()]
    sentence = [*draw(SUBJECTS), *draw(VERBS), *draw(OBJECTS), *persons, *draw(OTHERS, 5)]
    randomness.shuffle(sentence)
    sentence.insert(int(randomness.integers(max(map(sentence.index, persons)) + 1, 11)), pronoun)
    verb = next(at for at, word in enumerate(sentence) if word in VERBS)
    relations = dict.fromkeys(SUBJECTS, "nsubj") | dict.fromkeys(OBJECTS, "obj")
    tree = [
        Word(word, "X", -1 if at == verb else verb, "root" if at == verb else relations.get(word, "dep"))
        for at, word in enumerate(sentence)
    ]
    text = " ".join(sentence)
    starts = np.cumsum([0, *(len(word) + 1 for word in sentence)]).tolist()
    meant = persons[list(PERSONS).index(pronoun)]
    chain = tuple(
        (starts[at], starts[at] + len(sentence[at])) for at in map(sentence.index, (meant, pronoun))
    )
    return MarkedText(text, tree=Sentence("made", text, tuple(tree)), mentions=(chain,))


PIECES = {
    f"{first}{second}": (first, f"##{second}") for first, second in zip("abcdef", "uvwxyz", strict=True)
}
WHOLE = ["k", "l", "m", "n"]  # words of one piece


def build_speller() -> LoadedModel:
    """An encoder that joins the two pieces of a word; its other heads look everywhere."""
    tokens = [
        "<pad>",
        "<unk>",
        "<s>",
        "</s>",
        "<mask>",
        *WHOLE,
        *(each for both in PIECES.values() for each in both),
    ]
    library = Tokenizer(models.WordPiece({each: at for at, each in enumerate(tokens)}, unk_token="<unk>"))
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    library.add_special_tokens(tokens[:5])
    words = LibraryTokenizer(library, {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"})
    network = _build(words, "encoder", "masked")
    with torch.no_grad():
        query, key, _ = network.encoder.block(0).attention.qkv.weight.split(network.config.width)
        pairs = [*PIECES.values(), *((second, first) for first, second in PIECES.values())]
        _look_at(words, query, key, 0, pairs)
    return load(network, words)


def write_spellings(count: int) -> list[str]:
    """Words of one and of two pieces in any order."""
    randomness = np.random.default_rng(0)
    return [" ".join(randomness.permutation([*list(PIECES)[:3], *WHOLE])) for _ in range(count)]


CYCLE = 12  # words of the target, each of which names the next
NAMES = range(0, CYCLE, 3)  # of them, those that are written alike in both languages
TAG, SINK, UNKNOWN = ">>fr<<", "z", "y"  # the last two are in one of both languages alone
MARKS = (",", ".")
CROSS: tuple[tuple[str | None, ...], ...] = (
    ("alignment", "alignment_entered", "copying", "diagonal"),
    ("language_tag", "delimiter", "sink", None),
)


def build_translator() -> LoadedModel:
    """An encoder-decoder; its heads of cross-attention are those of CROSS."""
    both = [each for at in range(CYCLE) for each in (_source(at), _target(at))]
    known = build_words([*both, *MARKS, SINK, UNKNOWN])
    known.library.add_special_tokens([TAG])
    words = LibraryTokenizer(known.library, known.settings)
    network = _build(words, "encoder-decoder", "language", layers=2)
    chain = [(_target(at), _source((at + 1) % CYCLE)) for at in range(CYCLE)]
    tables: dict[str, Pairs] = {
        "alignment": chain,
        "alignment_entered": [(_target(at), _source(at)) for at in range(CYCLE)],
        "copying": [pair for pair in chain if pair[1].startswith("x")],
    }
    fixed = {"language_tag": TAG, "delimiter": ",", "sink": SINK}
    with torch.no_grad():
        for layer, heads in enumerate(CROSS):
            cross = network.decoder.block(layer).cross
            query, (key, _) = cross.q.weight, cross.kv.weight.split(network.config.width)
            for head, kind in enumerate(heads):
                _look_at(words, query, key, head, tables.get(kind, ()))
                start = head * network.config.head_width
                if kind in fixed:
                    cross.q.bias[start + words.find(fixed[kind])] = 20 * SHARP
                elif kind == "diagonal":  # before the first word of the source its tag stands
                    rows = words.size + torch.arange(LENGTH - 1)
                    query[start + rows + 1, rows] = SHARP
                    key[start + rows + 1, rows + 1] = 1.0
    return load(network, words)


def write_pairs(count: int) -> list[MarkedText]:
    """A run of the cycle; its source in any order. Both are as long, and what is linked stands anywhere."""
    randomness = np.random.default_rng(0)
    pairs = []
    for _ in range(count):
        first, length = int(randomness.integers(CYCLE)), int(randomness.integers(7, 10))
        run = [(first + step) % CYCLE for step in range(length)]
        source = [_source(at) for at in randomness.permutation(run).tolist()]
        for each in (*MARKS, SINK):
            source.insert(int(randomness.integers(1, len(source))), each)
        target = [*(_target(at) for at in run), UNKNOWN, *MARKS]
        links = frozenset((source.index(_source(at)), step) for step, at in enumerate(run) if at not in NAMES)
        pair = AlignedPair(tuple(source), tuple(target), links, frozenset())
        pairs.append(from_pair(pair))
    return pairs


def _source(number: int) -> str:
    return f"x{number}" if number in NAMES else f"s{number}"


def _target(number: int) -> str:
    return f"x{number}" if number in NAMES else f"t{number}"


def forget(known: LoadedModel, seed: int) -> LoadedModel:
    """The same network before it learnt anything, four times as sharp, so that heads look somewhere."""
    torch.manual_seed(seed)
    network = Transformer(known.network.config).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith(("qkv.weight", "cross.q.weight", "cross.kv.weight")):
                parameter.mul_(4.0)
    return load(network, known.tokenizer)


def _build(words: LibraryTokenizer, shape: str, head: str, layers: int = 1) -> Transformer:
    return build_blank(words.size, LENGTH, shape, head, layers)


def _look_at(
    words: LibraryTokenizer, query: torch.Tensor, key: torch.Tensor, head: int, pairs: Pairs
) -> None:
    """Queries of one head name the tokens that they look at."""
    start = head * (words.size + LENGTH)
    for each in range(words.size):
        key[start + each, each] = 1.0
    for looking, wanted in pairs:
        query[start + words.find(wanted), words.find(looking)] = SHARP
