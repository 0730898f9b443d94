"""The demonstration learns what it is shown, and its attention means what its caption says."""

from random import Random

import pytest
import torch

from glassformer.lessons.demo_translator import SENTENCE, STEPS, invent_pair, train_translator
from glassformer.loaded.opening import load
from glassformer.model.generate import generate
from glassformer.model.transformer import Transformer
from glassformer.render.terminal.heatmap import choose_head
from glassformer.text.sequences import pad_rows
from glassformer.text.tokenizer import LibraryTokenizer

Pupil = tuple[Transformer, LibraryTokenizer, list[float]]


@pytest.fixture(scope="module")
def pupil() -> Pupil:
    losses: list[float] = []
    network, tokenizer = train_translator(lambda step, loss: losses.append(loss))
    return network, tokenizer, losses


@pytest.mark.slow
def test_it_learns(pupil: Pupil) -> None:
    _, _, losses = pupil
    assert len(losses) == STEPS
    assert losses[-1] < 0.05 < losses[0]


@pytest.mark.slow
def test_it_translates_sentences_that_it_was_not_shown_on_purpose(pupil: Pupil) -> None:
    network, tokenizer, _ = pupil
    random = Random(12345)
    pairs = [invent_pair(random) for _ in range(40)]
    ids, real = pad_rows([tokenizer.encode(english).ids for english, _ in pairs], tokenizer.roles["padding"])
    answers = [tokenizer.decode(answer.ids) for answer in generate(network, ids, real)]
    right = sum(answer == french for answer, (_, french) in zip(answers, pairs, strict=True))
    assert right >= 38


@pytest.mark.slow
def test_the_drawn_head_looks_at_the_word_it_translates(pupil: Pupil) -> None:
    network, tokenizer, _ = pupil
    recording = load(network, tokenizer, name="demo").record(SENTENCE)
    assert recording.target is not None
    assert recording.target.text == "le chat blanc suit le chien noir"
    attention_map, head = choose_head(recording)
    assert attention_map.kind == "cross"
    looked_at = attention_map.statistics.peak_key[head]
    words = [attention_map.key.texts[place].strip() for place in looked_at]
    assert words[1:3] == ["cat", "white"]  # the rows before `chat` and before `blanc`
    assert words[5:7] == ["dog", "black"]


def test_it_leaves_torch_as_it_was() -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    threads = torch.get_num_threads()
    train_translator(lambda step, loss: None, steps=1)
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads
