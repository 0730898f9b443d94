"""A tokenizer object of transformers, fast or slow, behind our interface.

In:   the tokenizer, unchanged: its own settings decide which special tokens it adds.
Out:  a `Tokenizer`. A slow one does not know where in the text a token is: no offsets, no words.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from glassformer.text.display import Spelling, display, display_bytes, find_spelling
from glassformer.text.tokenizer import ROLES, Encoding, Tokenizer, check_text, explaining_failure


class TransformersTokenizer(Tokenizer):
    """Wraps a `PreTrainedTokenizerBase`."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._size: tuple[int, int] | None = None  # how many tokens there were, and the size then
        self.library = getattr(tokenizer, "backend_tokenizer", None)  # of a fast one
        ids = {role: getattr(tokenizer, f"{theirs}_id", None) for role, (theirs, _) in ROLES.items()}
        roles = {role: int(token_id) for role, token_id in ids.items() if token_id is not None}
        self.added = dict(tokenizer.added_tokens_decoder)  # by id
        self.spelling: Spelling = "bytes" if hasattr(tokenizer, "byte_decoder") else "spaces"
        if self.library is not None:
            self.spelling = find_spelling(self.library.decoder, self.library.pre_tokenizer)
        super().__init__(roles, tokenizer.all_special_ids)

    @property
    def size(self) -> int:
        count = len(self.tokenizer)
        if self._size is None or self._size[0] != count:  # listing the vocabulary takes milliseconds
            self._size = count, max(self.tokenizer.get_vocab().values(), default=-1) + 1
        return self._size[1]

    def encode(
        self, text: str, second_text: str | None = None, *, special: bool = True, target: bool = False
    ) -> Encoding:
        check_text(text, second_text)
        end = "_target" if target else ""
        pair = {f"text{end}": text, f"text_pair{end}": second_text}
        options = {"add_special_tokens": special, "return_token_type_ids": True, "verbose": False}
        with explaining_failure():
            found = self.tokenizer(**pair, **options)
        if self.library is not None:
            return self.read(found.encodings[0], text, second_text)
        ids = tuple(found["input_ids"])
        return Encoding(
            ids=ids,
            texts=self.display(ids),
            special=tuple(map(self.is_special, ids)),
            segments=tuple(found.get("token_type_ids", [0] * len(ids))),
            text=text if second_text is None else f"{text}\n{second_text}",
        )

    def encode_many(self, texts: Sequence[str]) -> list[Encoding]:
        if self.library is None:
            return super().encode_many(texts)
        for text in texts:
            check_text(text, None)
        with explaining_failure():
            found = self.tokenizer(list(texts), return_token_type_ids=True, verbose=False).encodings
        return [self.read(encoding, text, None) for encoding, text in zip(found, texts, strict=True)]

    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=not special))

    def find(self, piece: str) -> int | None:
        return self.tokenizer.get_vocab().get(piece)

    def save(self, folder: str | Path) -> None:
        self.tokenizer.save_pretrained(folder)

    def _display(self, token_id: int) -> str:
        try:
            piece = self.tokenizer.convert_ids_to_tokens(token_id)
        except (LookupError, ValueError, OverflowError):  # slow ones differ in how they miss an id
            piece = None
        if piece is None:
            return f"‹{token_id}›"
        if token_id in self.added:
            return display(piece, "plain")
        high_byte = self.library is None and len(piece) == 1 and "\x80" <= piece <= "\xff"
        if high_byte and not self.tokenizer.decode([token_id]):
            return display_bytes(bytes([ord(piece)]))  # one byte of a character, spelt as Latin-1 (ByT5)
        return display(piece, self.spelling)
