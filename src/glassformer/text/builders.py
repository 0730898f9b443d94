"""Small tokenizers that need no files, for demonstrations and tests.

In:   an alphabet, a list of words, or nothing at all.
Out:  a `LibraryTokenizer`; ids 0 to 4 are <pad>, <unk>, <s>, </s> and <mask>.
"""

from collections.abc import Iterable

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from glassformer.errors import ConfigurationError
from glassformer.text.display import byte_alphabet
from glassformer.text.tokenizer import LibraryTokenizer

PADDING, UNKNOWN, START, END, MASK = SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
_NAMES = dict(zip(("pad_token", "unk_token", "bos_token", "eos_token", "mask_token"), SPECIAL, strict=True))


def build_bytes(*, start: bool = False, end: bool = True) -> LibraryTokenizer:
    """One token for each byte: 261 tokens for every text there is."""
    letters = sorted(byte_alphabet(), key=byte_alphabet().__getitem__)
    library = Tokenizer(models.BPE(vocab=_number(letters), merges=[]))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    return _finish(library, start=start, end=end)


def build_characters(alphabet: str, *, start: bool = False, end: bool = True) -> LibraryTokenizer:
    """One token for each character of an alphabet; others are unknown."""
    library = Tokenizer(models.WordLevel(_number(dict.fromkeys(alphabet)), unk_token=UNKNOWN))
    library.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    library.decoder = decoders.Fuse()
    return _finish(library, start=start, end=end)


def build_words(words: Iterable[str], *, start: bool = False, end: bool = True) -> LibraryTokenizer:
    """One token for each word, parted at spaces and around punctuation; others are unknown.

    >>> gf.build_words(["Tom", "chases", "Jerry"]).encode("Tom chases Jerry").texts
    ('Tom', 'chases', 'Jerry', '</s>')
    """
    library = Tokenizer(models.WordLevel(_number(dict.fromkeys(words)), unk_token=UNKNOWN))
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    return _finish(library, start=start, end=end)


def _number(pieces: Iterable[str]) -> dict[str, int]:
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, *pieces))}
    if len(vocabulary) == len(SPECIAL):
        raise ConfigurationError("text.empty_vocabulary")
    return vocabulary


def _finish(library: Tokenizer, *, start: bool, end: bool) -> LibraryTokenizer:
    """Declare the special tokens, and put <s> before and </s> after each text where wanted."""
    library.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    opening, ending = ([START] if start else []), ([END] if end else [])
    library.post_processor = processors.TemplateProcessing(
        single=[*opening, "$A:0", *ending],
        pair=[*opening, "$A:0", *ending, "$B:1", *(f"{token}:1" for token in ending)],
        special_tokens=[(token, library.token_to_id(token)) for token in (START, END)],
    )
    return LibraryTokenizer(library, _NAMES)
