"""Text into tokens and back, with everything a figure needs to know about each token.

In:   one text or two.
Out:  `Encoding`; text again from ids. Text is never truncated silently.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tokenizers

from glassformer.errors import InputError
from glassformer.text.display import display, find_spelling
from glassformer.text.files import write_json

Role = Literal["padding", "unknown", "start", "end", "class", "separator", "mask"]

# What transformers calls each role, and the names that tokens of this role usually have: many published
# folders name no roles, because they are written into the Python class that goes with the model.
ROLES: dict[Role, tuple[str, tuple[str, ...]]] = {
    "padding": ("pad_token", ("[PAD]", "<pad>", "<|pad|>")),
    "unknown": ("unk_token", ("[UNK]", "<unk>")),
    "start": ("bos_token", ("<s>", "[BOS]", "<bos>", "<|endoftext|>")),
    "end": ("eos_token", ("</s>", "[EOS]", "<eos>", "<|endoftext|>")),
    "class": ("cls_token", ("[CLS]", "<cls>")),
    "separator": ("sep_token", ("[SEP]", "<sep>")),
    "mask": ("mask_token", ("[MASK]", "<mask>")),
}


MOST_SHOWN = 1 << 19  # ids whose text is remembered


@dataclass(frozen=True, slots=True)
class Encoding:
    """One text (or pair) as tokens. Offsets point into `text`, where a second text follows on a new line."""

    ids: tuple[int, ...]
    texts: tuple[str, ...]  # what to display
    special: tuple[bool, ...]  # [CLS], </s> and the like
    segments: tuple[int, ...]  # 0 for the first text, 1 for the second
    text: str
    offsets: tuple[tuple[int, int], ...] | None = None  # first and one past the last character; None: unknown
    words: tuple[int, ...] | None = None  # the word each token belongs to, -1 for none; None: unknown

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer(ABC):
    """What every tokenizer here can do; `open_tokenizer` and `wrap_tokenizer` make one."""

    def __init__(self, roles: Mapping[Role, int], special_ids: Iterable[int]) -> None:
        self.roles = dict(roles)  # ids of the tokens that play a role
        # An unknown or masked word is a word of the text, unless its token has another role too (GPT-2).
        others = {token_id for role, token_id in roles.items() if role not in ("unknown", "mask")}
        words = {roles[role] for role in ("unknown", "mask") if role in roles}
        self.special_ids = (set(special_ids) | others) - (words - others)
        self._shown = _Shown(self)

    @property
    @abstractmethod
    def size(self) -> int:
        """One more than the largest id it can give."""

    @abstractmethod
    def encode(
        self, text: str, second_text: str | None = None, *, special: bool = True, target: bool = False
    ) -> Encoding:
        """Tokens of a text; `special` adds what the model wants around it; `target`: it is a translation."""

    def encode_many(self, texts: Sequence[str]) -> list[Encoding]:
        """The same of each of many texts, special tokens included."""
        return [self.encode(text) for text in texts]

    @abstractmethod
    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        """Text again; special tokens are left out unless wanted."""

    def display(self, ids: Iterable[int]) -> tuple[str, ...]:
        """What to show for each id; an id that the vocabulary lacks is shown as its number."""
        return tuple(map(self._shown.renew(self.size).__getitem__, ids))

    @abstractmethod
    def _display(self, token_id: int) -> str:
        """What to show for one id."""

    @abstractmethod
    def find(self, piece: str) -> int | None:
        """The id of a token as the vocabulary spells it."""

    def is_special(self, token_id: int) -> bool:
        """Whether a token stands for no word of the text: padding, start, end, a language."""
        return token_id in self.special_ids

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write it so that `open_tokenizer`, and AutoTokenizer of transformers, open it."""

    def read(self, encoding: tokenizers.Encoding, text: str, second_text: str | None) -> Encoding:
        """The library's encoding as ours: the second text's offsets and words follow those of the first."""
        if second_text is None:
            return self._read_one(encoding, text)
        rows = list(zip(encoding.sequence_ids, encoding.word_ids, strict=True))
        first_words = 1 + max((word for part, word in rows if part == 0 and word is not None), default=-1)
        starts, shifts = {0: 0, 1: first_words}, {None: 0, 0: 0, 1: len(text) + 1}
        return Encoding(
            ids=tuple(encoding.ids),
            texts=self.display(encoding.ids),
            special=tuple(
                part is None or self.is_special(token_id)
                for token_id, (part, _) in zip(encoding.ids, rows, strict=True)
            ),
            segments=tuple(encoding.type_ids),
            text=f"{text}\n{second_text}",
            offsets=tuple(
                (first + shifts[part], last + shifts[part])
                for (first, last), (part, _) in zip(encoding.offsets, rows, strict=True)
            ),
            words=tuple(-1 if part is None or word is None else word + starts[part] for part, word in rows),
        )

    def _read_one(self, encoding: tokenizers.Encoding, text: str) -> Encoding:
        """The same of one text alone, as fast as Python can: studies read millions of tokens."""
        ids, words = encoding.ids, [-1 if word is None else word for word in encoding.word_ids]
        special = list(map(self.special_ids.__contains__, ids))
        if any(encoding.special_tokens_mask):  # special tokens around the text are no words of it
            for at, part in enumerate(encoding.sequence_ids):
                if part is None:
                    special[at], words[at] = True, -1
        return Encoding(
            ids=tuple(ids),
            texts=self.display(ids),
            special=tuple(special),
            segments=tuple(encoding.type_ids),
            text=text,
            offsets=tuple(encoding.offsets),
            words=tuple(words),
        )


class _Shown(dict[int, str]):
    """The text that is shown for each id, kept until the vocabulary changes its size."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.tokenizer, self.size = tokenizer, 0

    def renew(self, size: int) -> "_Shown":
        if size != self.size:
            self.clear()
            self.size = size
        return self

    def __missing__(self, token_id: int) -> str:
        text = self.tokenizer._display(token_id)
        if len(self) < MOST_SHOWN:  # a bound: ids may also be numbers that the vocabulary lacks
            self[token_id] = text
        return text


class LibraryTokenizer(Tokenizer):
    """A tokenizer of the `tokenizers` library: everything that a `tokenizer.json` describes."""

    def __init__(self, library: tokenizers.Tokenizer, settings: Mapping[str, Any] | None = None) -> None:
        library.no_truncation()  # saved settings would cut text off silently
        library.no_padding()
        self.library = library
        self.settings = dict(settings or {})  # what else a tokenizer_config.json says: kept for saving
        self._size: tuple[int, int] | None = None  # how many tokens there were, and the size then
        self.spelling = find_spelling(library.decoder, library.pre_tokenizer)
        self.added = library.get_added_tokens_decoder()  # by id; the vocabulary proper spells them otherwise
        special_ids = {token_id for token_id, token in self.added.items() if token.special}
        super().__init__(_find_roles(library, self.settings, special_ids), special_ids)

    @property
    def size(self) -> int:
        count = self.library.get_vocab_size(with_added_tokens=True)
        if self._size is None or self._size[0] != count:  # listing the vocabulary takes milliseconds
            ids = self.library.get_vocab(with_added_tokens=True).values()
            self._size = count, max(ids, default=-1) + 1
        return self._size[1]

    def encode(
        self, text: str, second_text: str | None = None, *, special: bool = True, target: bool = False
    ) -> Encoding:
        del target  # one vocabulary for both languages
        check_text(text, second_text)
        with explaining_failure():
            encoding = self.library.encode(text, second_text, add_special_tokens=special)
        return self.read(encoding, text, second_text)

    def encode_many(self, texts: Sequence[str]) -> list[Encoding]:
        for text in texts:
            check_text(text, None)
        with explaining_failure():
            found = self.library.encode_batch(list(texts))  # by all cores
        return [self.read(encoding, text, None) for encoding, text in zip(found, texts, strict=True)]

    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        return self.library.decode(list(ids), skip_special_tokens=not special)

    def find(self, piece: str) -> int | None:
        return self.library.token_to_id(piece)

    def save(self, folder: str | Path) -> None:
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", **self.settings}
        for role, token_id in self.roles.items():
            settings.setdefault(ROLES[role][0], self.library.id_to_token(token_id))
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.library.save(str(Path(folder) / "tokenizer.json"), pretty=False)  # a third smaller
        write_json(Path(folder) / "tokenizer_config.json", settings)

    def _display(self, token_id: int) -> str:
        piece = self.library.id_to_token(token_id)
        if piece is None:
            return f"‹{token_id}›"
        return display(piece, "plain" if token_id in self.added else self.spelling)


@contextmanager
def explaining_failure() -> Iterator[None]:
    """Turn the plain exceptions of the `tokenizers` library into an InputError."""
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:
            raise
        raise InputError("text.not_encoded", reason=str(error)) from error


def check_text(*texts: str | None) -> None:
    """Refuse what is not text: another type, or half of a character."""
    for text in texts:
        if text is None:
            continue
        if not isinstance(text, str):
            raise InputError("text.not_a_string", kind=type(text).__name__)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                "text.half_character", place=error.start, code=f"{ord(text[error.start]):04X}"
            ) from error


def _find_roles(
    library: tokenizers.Tokenizer, settings: Mapping[str, Any], special_ids: set[int]
) -> dict[Role, int]:
    """Ids by role: as the settings say, otherwise special tokens of the usual names."""
    found: dict[Role, int] = {}
    for role, (theirs, usual) in ROLES.items():
        named = settings.get(theirs)
        name = named.get("content") if isinstance(named, Mapping) else named
        token_id = library.token_to_id(name) if isinstance(name, str) else None
        if token_id is None:
            candidates = (library.token_to_id(each) for each in usual)
            token_id = next((each for each in candidates if each in special_ids), None)
        if token_id is not None:
            found[role] = token_id
    return found
