"""Translation: learnt by heart in both directions, read from any pair of files, scored as the field does."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from glassformer.config import RecurrentConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.native import NativeModel
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.loss import IGNORED
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.tasks.answers import stream_answer
from glassformer.tasks.task import known_settings
from glassformer.tasks.translation import Translation, translate
from glassformer.text.batches import Batch
from phrase_book import School, table


@pytest.mark.slow
def test_thirty_two_pairs_are_learnt_by_heart_in_both_directions(school: School, book: Path) -> None:
    task = school.make_task(table(book, scored=8))
    assert isinstance(task, Translation)
    network = school.make_network(task)
    before = task.evaluate(network, "dev")
    school.learn(task, network, 120)
    after = task.evaluate(network, "dev")
    assert after["loss"] < 0.02 < 3 < before["loss"]
    assert after["bleu_en-fr"] == after["bleu_fr-en"] == pytest.approx(100)
    model = NativeModel(network, task.tokenizer)
    english, french = ([pair[side] for pair in school.PAIRS] for side in (0, 1))
    assert list(translate(model, english, target_language="fr")) == french
    assert list(translate(model, french, target_language="en", decode=GenerationSettings(beams=3))) == english
    assert "".join(stream_answer(model, english[5], target_language="fr")) == french[5]


@pytest.mark.slow
def test_a_recurrent_network_learns_the_same_task(school: School, book: Path) -> None:
    task = school.make_task(
        table(
            book,
            tags=False,
            files=[{"path": "{split}.tsv", "languages": ["en", "fr"], "directions": "forward"}],
        )
    )
    torch.manual_seed(0)
    small = {"width": 32, "embedding_width": 32, "max_length": 64, "dropout": 0.0}
    network = RecurrentTranslator(
        RecurrentConfig(**(known_settings(RecurrentConfig, task.network_settings()) | small))
    )
    task.accept(network.config)
    school.learn(task, network, 100, rate=2e-2)
    english, french = zip(*school.PAIRS, strict=True)
    found = list(translate(network, english, tokenizer=task.tokenizer))
    assert sum(one == two for one, two in zip(found, french, strict=True)) >= 30


def make_translator(kind: str, task: Any, school: School, dropout: float) -> Any:
    if kind == "transformer":
        return school.make_network(task, dropout=dropout)
    torch.manual_seed(0)
    small = {"width": 32, "embedding_width": 32, "max_length": 64, "dropout": dropout}
    network = RecurrentTranslator(
        RecurrentConfig(**(known_settings(RecurrentConfig, task.network_settings()) | small))
    )
    task.accept(network.config)
    return network


def loss_and_gradients(task: Any, network: Any, batch: Batch) -> tuple[torch.Tensor, list[torch.Tensor]]:
    torch.manual_seed(3)
    loss = task.loss(network, batch)
    return loss.detach(), list(torch.autograd.grad(loss, list(network.parameters())))


@pytest.mark.parametrize("kind", ["transformer", "recurrent"])
def test_consistency_adds_the_divergence_of_two_passes(school: School, book: Path, kind: str) -> None:
    task = school.make_task(table(book, consistency=2, label_smoothing=0.1))
    network = make_translator(kind, task, school, 0.3)
    batch = task.collate("train", [0, 9, 40])
    loss, gradients = loss_and_gradients(task, network, batch)
    real = None if batch.real is None else torch.cat((batch.real, batch.real))
    assert batch.target is not None
    torch.manual_seed(3)
    logits = network(torch.cat((batch.ids, batch.ids)), real, target=torch.cat((batch.target, batch.target)))
    passes = logits.log_softmax(-1).unflatten(0, (2, 3))  # (pass, B, T, vocabulary)
    entropies, divergences = [], []
    for row, place in (batch.labels != IGNORED).nonzero().tolist():
        first, second = passes[:, row, place]
        for one, other in ((first, second), (second, first)):
            divergences.append(F.kl_div(other, one, reduction="sum", log_target=True) / 2)
            entropies.append(F.cross_entropy(one, batch.labels[row, place], label_smoothing=0.1) / 2)
    entropy, divergence = torch.stack(entropies).sum(), torch.stack(divergences).sum()
    assert divergence > 0.1
    torch.testing.assert_close(loss, entropy.detach())  # what is reported is the cross-entropy
    expected = torch.autograd.grad(entropy + 2 * divergence, list(network.parameters()))
    torch.testing.assert_close(gradients, list(expected))


@pytest.mark.parametrize("kind", ["transformer", "recurrent"])
def test_consistency_is_nothing_without_dropout_and_nothing_when_off(
    school: School, book: Path, kind: str
) -> None:
    plain, off, on = (
        school.make_task(table(book, **words)) for words in ({}, {"consistency": 0.0}, {"consistency": 5.0})
    )
    batch = plain.collate("train", range(8))
    network = make_translator(kind, plain, school, 0.0)
    loss, gradients = loss_and_gradients(plain, network, batch)
    twice, theirs = loss_and_gradients(on, network, batch)
    torch.testing.assert_close(twice, loss)
    torch.testing.assert_close(theirs, gradients)
    network = make_translator(kind, plain, school, 0.3)
    torch.testing.assert_close(
        loss_and_gradients(off, network, batch), loss_and_gradients(plain, network, batch), rtol=0, atol=0
    )
    assert plain.evaluate(network, "dev") == on.evaluate(network, "dev")  # judged in one pass


class Listener(torch.nn.Module):
    """A translator that only keeps what it is given to read."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.guess = torch.nn.Parameter(torch.zeros(size))

    def forward(self, ids: torch.Tensor, real: torch.Tensor | None, *, target: torch.Tensor) -> torch.Tensor:
        self.given = ids, real, target
        return self.guess.expand(*target.shape, -1)


@pytest.mark.parametrize("consistency", [0.0, 1.0])
def test_hidden_words_are_words_and_others_in_each_pass(
    school: School, book: Path, consistency: float
) -> None:
    task = school.make_task(table(book, word_dropout=0.25, consistency=consistency))
    listener = Listener(task.tokenizer.size)
    batch = task.collate("train", range(64))
    torch.manual_seed(0)
    loss = task.loss(listener, batch)
    assert loss.item() / batch.count == pytest.approx(math.log(task.tokenizer.size))  # all labels count
    passes = 2 if consistency else 1
    ids, _, target = listener.given
    unknown, special = task.tokenizer.roles["unknown"], torch.tensor(sorted(task.tokenizer.special_ids))
    for given, whole in ((ids, batch.ids), (target, batch.target)):
        assert whole is not None
        whole = whole.repeat(passes, 1)
        hidden = given != whole
        assert bool((given[hidden] == unknown).all())
        assert not bool((hidden & torch.isin(whole, special)).any())
        share = hidden.sum() / (~torch.isin(whole, special)).sum()
        assert 0.2 < share.item() < 0.3
        if consistency:
            first, second = hidden.chunk(2)
            assert bool((first != second).any())
    task.loss(listener.eval(), batch)
    assert torch.equal(listener.given[0], batch.ids.repeat(passes, 1))


def test_a_batch_has_its_tag_its_start_and_its_end_where_they_belong(school: School, book: Path) -> None:
    task = school.make_task(table(book))
    batch = task.collate("train", [0, 33])
    tokenizer = task.tokenizer
    start, end, padding = (tokenizer.roles[role] for role in ("start", "end", "padding"))
    for row, (source, target, language) in enumerate(
        [(*school.PAIRS[0], "fr"), (*school.PAIRS[1][::-1], "en")]
    ):
        words = list(tokenizer.encode(target, special=False).ids)
        read = [tokenizer.find(f">>{language}<<"), *tokenizer.encode(source).ids]
        assert batch.target is not None
        assert [token for token in batch.ids[row].tolist() if token != padding] == read
        assert [token for token in batch.labels[row].tolist() if token != IGNORED] == [*words, end]
        assert [token for token in batch.target[row].tolist() if token != padding] == [start, *words]
    assert batch.count == int((batch.labels != IGNORED).sum())
    assert batch.real is None or (batch.real == (batch.ids != padding)).all()
    assert batch.tokens == int((batch.ids != padding).sum()) + batch.count


def test_what_cannot_translate_is_refused(school: School, book: Path) -> None:
    task = school.make_task(table(book))
    with pytest.raises(ConfigurationError, match="needs shape = 'encoder-decoder'"):
        school.make_network(task, shape="decoder")
    with pytest.raises(ConfigurationError, match="does this tokenizer belong to this model"):
        school.make_network(task, vocabulary_size=task.tokenizer.size - 1)
    model = NativeModel(school.make_network(task), task.tokenizer)
    with pytest.raises(InputError, match="no token for the language 'de'"):
        translate(model, ["the cat"], target_language="de")[0]
    with pytest.raises(InputError, match=r"Text 2 has .* tokens, and the model reads 64 at most"):
        list(translate(model, ["the cat", "the cat " * 60]))


def test_blank_texts_stay_blank_and_in_their_place(school: School, book: Path) -> None:
    task = school.make_task(table(book))
    model = NativeModel(school.make_network(task), task.tokenizer)
    texts = ["the cat sees the dog", " ", "the boy"]
    settings = GenerationSettings(max_new_tokens=4)
    together = list(translate(model, texts, decode=settings))
    assert together == [translate(model, [text], decode=settings)[0] for text in texts]
    assert together[1] == ""
