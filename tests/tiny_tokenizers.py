"""Tiny tokenizers of the three usual kinds, made without files."""

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from glassformer.text.display import byte_alphabet


def byte_level() -> tokenizers.Tokenizer:
    """GPT-2's kind: bytes, with merges that leave Chinese characters cut in two."""
    letters = sorted(byte_alphabet())
    merges = [("Ġ", "l"), ("o", "v"), ("Ġl", "ov"), ("Ġlov", "e"), ("æ", "±")]
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    for pair in merges:
        vocabulary["".join(pair)] = len(vocabulary)
    library = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    library.add_special_tokens(["<|endoftext|>"])
    library.add_tokens(["étude"])  # not special, and not spelt in bytes
    return library


def word_pieces() -> tokenizers.Tokenizer:
    """BERT's kind, with [CLS] and [SEP] around one text or two."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "the", "piano", "é", "##tu"]
    library = tokenizers.Tokenizer(
        models.WordPiece(vocab={piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    library.normalizer = normalizers.Lowercase()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    library.add_special_tokens(pieces[:5])
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return library


def sentence_pieces() -> tokenizers.Tokenizer:
    """T5's kind: ▁ for a space, single bytes for what the vocabulary lacks."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁love", "▁I", "s"]
    library = tokenizers.Tokenizer(
        models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0, byte_fallback=True)
    )
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return library
