"""The recurrent baselines: padding, steps, beams, windows, and that they can learn."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import RecurrentConfig
from glassformer.errors import InputError
from glassformer.model.recurrent import RecurrentTranslator, _run_cells
from glassformer.model.similarity import additive

KINDS = list(itertools.product(("fixed", "attention"), ("gru", "lstm"), (1, 2), (True, False)))
SOURCE = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
REAL = torch.tensor([[True, True, True, True], [True, True, False, False]])
TARGET = torch.tensor([[1, 9, 8, 7, 6], [1, 4, 3, 2, 5]])


def build(
    context: str, cell: str = "gru", layers: int = 1, bidirectional: bool = True
) -> RecurrentTranslator:
    config = RecurrentConfig(
        vocabulary_size=11,
        context=context,  # type: ignore[arg-type]
        cell=cell,  # type: ignore[arg-type]
        layers=layers,
        width=8,
        embedding_width=6,
        bidirectional=bidirectional,
        max_length=12,
        start_id=1,
        end_id=2,
    )
    torch.manual_seed(0)
    network = RecurrentTranslator(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)  # far from uniform, so that a mix-up shows
    return network


def watch(window: nn.Module) -> list[Tensor]:
    """Everything that passes a window from now on."""
    seen: list[Tensor] = []
    window.register_forward_hook(lambda module, inputs, output: seen.append(output.detach()))
    return seen


@pytest.mark.parametrize(("context", "cell", "layers", "bidirectional"), KINDS)
def test_padding_never_changes_an_answer(context: str, cell: str, layers: int, bidirectional: bool) -> None:
    network = build(context, cell, layers, bidirectional)
    together = network(SOURCE, REAL, target=TARGET)
    assert together.shape == (2, 5, 11)
    alone = network(SOURCE[1:, :2], target=TARGET[1:])
    torch.testing.assert_close(together[1:], alone)
    left = network(
        torch.tensor([[0, 0, 7, 8]]), torch.tensor([[False, False, True, True]]), target=TARGET[1:]
    )
    torch.testing.assert_close(left, alone)


@pytest.mark.parametrize(("context", "cell", "layers", "bidirectional"), KINDS)
def test_steps_give_what_teacher_forcing_gives(
    context: str, cell: str, layers: int, bidirectional: bool
) -> None:
    network = build(context, cell, layers, bidirectional)
    expected = network(SOURCE, REAL, target=TARGET)
    for cached in (True, False):
        decoding = network.begin(SOURCE, REAL, prefix=TARGET[:, :2], capacity=5, cached=cached)
        torch.testing.assert_close(decoding.logits, expected[:, 1])
        for step in range(2, 5):
            torch.testing.assert_close(decoding.step(TARGET[:, step]), expected[:, step])
            assert decoding.logits.shape == (2, 11)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(
    ("context", "cell"), list(itertools.product(("fixed", "attention"), ("gru", "lstm")))
)
def test_beams_go_on_from_the_rows_they_chose(context: str, cell: str, cached: bool) -> None:
    network = build(context, cell, layers=2)
    decoding = network.begin(SOURCE, REAL, capacity=6, cached=cached)
    decoding.select(torch.tensor([0, 0, 1, 1]))
    decoding.step(torch.tensor([5, 6, 7, 8]))
    decoding.select(torch.tensor([1, 1, 3, 2]))  # both beams of the first source go on from its second
    logits = decoding.step(torch.tensor([3, 4, 5, 6]))
    histories = torch.tensor([[1, 6, 3], [1, 6, 4], [1, 8, 5], [1, 7, 6]])
    for row, history in enumerate(histories):
        source = slice(row // 2, row // 2 + 1)
        expected = network(SOURCE[source], REAL[source], target=history[None])[0, -1]
        torch.testing.assert_close(logits[row], expected)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("context", ["fixed", "attention"])
def test_sources_that_are_finished_leave(context: str, cached: bool) -> None:
    network = build(context, "lstm")
    decoding = network.begin(SOURCE, REAL, capacity=6, cached=cached)
    decoding.select(torch.tensor([0, 0, 1, 1]))
    before = decoding.step(torch.tensor([5, 6, 7, 8]))
    decoding.keep(torch.tensor([1]))
    torch.testing.assert_close(decoding.logits, before[2:])
    logits = decoding.step(torch.tensor([3, 4]))
    for row, history in enumerate(torch.tensor([[1, 7, 3], [1, 8, 4]])):
        expected = network(SOURCE[1:], REAL[1:], target=history[None])[0, -1]
        torch.testing.assert_close(logits[row], expected)


def test_without_a_prefix_the_start_token_comes_first() -> None:
    network = build("attention")
    expected = network(SOURCE, REAL, target=TARGET[:, :1])[:, 0]
    torch.testing.assert_close(network.begin(SOURCE, REAL, capacity=3).logits, expected)


@pytest.mark.parametrize("context", ["fixed", "attention"])
def test_no_word_depends_on_later_words(context: str) -> None:
    network = build(context)
    changed = TARGET.clone()
    changed[:, 3] = 10
    before, after = network(SOURCE, REAL, target=TARGET), network(SOURCE, REAL, target=changed)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3], after[:, 3])


@pytest.mark.parametrize("bidirectional", [True, False])
def test_which_way_the_encoder_reads(bidirectional: bool) -> None:
    network = build("attention", bidirectional=bidirectional)
    states = watch(network.encoder.states)
    network.encode(torch.tensor([[3, 4, 5]]))
    network.encode(torch.tensor([[3, 4, 6]]))
    assert torch.equal(states[0][:, 0], states[1][:, 0]) is not bidirectional


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_summary_is_where_both_directions_end(cell: str) -> None:
    network = build("fixed", cell, layers=2)
    states = watch(network.encoder.states)
    source = network.encode(torch.tensor([[3, 4, 5]]))
    expected = torch.cat(
        (states[0][:, -1, :4], states[0][:, 0, 4:]), dim=-1
    )  # backwards, the first word is last
    torch.testing.assert_close(source.summary, expected)
    torch.testing.assert_close(source.start[0][-1], torch.tanh(network.bridges[0](expected)))


def test_a_step_asks_with_the_top_layer_as_the_step_before_left_it() -> None:
    network = build("attention", layers=2)
    assert network.decoder.attention is not None
    queries, states = watch(network.decoder.attention.queries), watch(network.decoder.states)
    network(SOURCE, REAL, target=TARGET)
    for asked, left in zip(queries[1:], states[:-1], strict=True):
        assert torch.equal(asked[:, 0], left)


def test_windows_show_additive_attention() -> None:
    network = build("attention")
    attention = network.decoder.attention
    assert attention is not None
    queries, keys, scores = watch(attention.queries), watch(attention.keys), watch(attention.scores)
    pattern, mixed, values = watch(attention.pattern), watch(attention.mixed), watch(attention.values)
    network(SOURCE, REAL, target=TARGET)
    assert len(scores) == len(pattern) == len(queries) == len(mixed) == 5  # one for each target token
    assert len(keys) == len(values) == 1
    similarity = attention.similarity
    asked = torch.cat(queries, dim=2)  # (batch, head, query, width)
    expected = additive(asked, keys[0], similarity.query_weight, similarity.key_weight, similarity.vector)
    torch.testing.assert_close(torch.cat(scores, dim=2), expected)
    weights = torch.cat(pattern, dim=2)
    torch.testing.assert_close(
        weights, torch.softmax(expected.masked_fill(~REAL[:, None, None], -torch.inf), -1)
    )
    torch.testing.assert_close(torch.cat(mixed, dim=2), weights @ values[0])
    assert not torch.allclose(mixed[0], mixed[4])  # Cᵢ changes from step to step


def test_what_a_window_returns_is_what_happens() -> None:
    network = build("attention")
    attention = network.decoder.attention
    assert attention is not None
    plain = network(SOURCE, REAL, target=TARGET)
    handle = attention.pattern.register_forward_hook(lambda module, inputs, output: output * 0)
    assert not torch.allclose(network(SOURCE, REAL, target=TARGET), plain)
    handle.remove()
    torch.testing.assert_close(network(SOURCE, REAL, target=TARGET), plain)


def test_a_fixed_context_is_all_that_the_decoder_knows() -> None:
    network = build("fixed")
    assert network.decoder.attention is None
    source = network.encode(SOURCE, REAL)
    blind = source._replace(projected_keys=source.projected_keys * 0, values=source.values * 0)
    words = TARGET[:, :3]
    assert torch.equal(
        network.decode(words, source.start, source)[0], network.decode(words, source.start, blind)[0]
    )
    other = source._replace(summary=source.summary + 1)
    assert not torch.allclose(
        network.decode(words, source.start, other)[0], network.decode(words, source.start, source)[0]
    )


def test_tied_embeddings_are_one_table() -> None:
    tied = build("attention")
    untied = RecurrentTranslator(replace(tied.config, tie_embeddings=False))
    assert tied.output_vectors() is tied.embeddings.weight
    assert untied.output_vectors() is not untied.embeddings.weight
    names = {name for name, _ in untied.named_parameters()} - {name for name, _ in tied.named_parameters()}
    assert names == {"weight"}


@pytest.mark.parametrize("context", ["fixed", "attention"])
@pytest.mark.slow
def test_it_learns_to_turn_a_sentence_round(context: str) -> None:
    network = build(context)
    network = RecurrentTranslator(replace(network.config, width=24, dropout=0.0)).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    generator = torch.Generator().manual_seed(1)
    first = last = 0.0
    for step in range(60):
        source = torch.randint(3, 11, (32, 3), generator=generator)
        target = F.pad(source.flip(1), (1, 0), value=1)
        logits = network(source, target=target[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first, last = (loss.item() if step == 0 else first), loss.item()
    assert last < first / 4
    assert all(parameter.grad is not None for parameter in network.parameters())


def test_bad_input_is_refused_in_words() -> None:
    network = build("attention")
    with pytest.raises(InputError, match="only a source"):
        network(SOURCE)
    with pytest.raises(InputError, match="padded on the left"):
        network(SOURCE, target=TARGET, target_real=torch.tensor([[False, True, True, True, True]] * 2))
    with pytest.raises(InputError, match="nothing but padding"):
        network(SOURCE, torch.tensor([[True] * 4, [False] * 4]), target=TARGET)
    with pytest.raises(InputError, match="13 tokens, but this network has positions for 12"):
        network(torch.ones(1, 13, dtype=torch.long), target=TARGET[:1])
    with pytest.raises(InputError, match="Token id 11 is not in the vocabulary of 11"):
        network(SOURCE, target=TARGET + 2)
    with pytest.raises(InputError, match="Is the text empty"):
        network(SOURCE[:, :0], target=TARGET)
    nameless = RecurrentTranslator(replace(network.config, start_id=None))
    with pytest.raises(InputError, match="start_id"):
        nameless.begin(SOURCE, capacity=4)


def test_right_padding_of_the_target_is_accepted() -> None:
    network = build("attention")
    real = torch.tensor([[True] * 5, [True, True, True, False, False]])
    padded = TARGET.where(real, 0)
    logits = network(SOURCE, REAL, target=padded, target_real=real)
    torch.testing.assert_close(logits[1, :3], network(SOURCE, REAL, target=TARGET)[1, :3])


class Cells:
    """What a GPU would run: tells which precision it found, and waits until it may go on."""

    weight_hh_l0 = SimpleNamespace(is_cuda=True)

    def __init__(self, wait: Callable[[], object]) -> None:
        self.wait = wait

    def __call__(self, inputs: Tensor) -> str:
        found: str = torch.backends.cudnn.rnn.fp32_precision
        self.wait()
        return found


def test_on_a_gpu_who_looks_sees_every_digit_and_who_learns_what_torch_does() -> None:
    before = torch.backends.cudnn.rnn.fp32_precision
    assert before != "ieee"
    cells = Cells(lambda: None)
    assert _run_cells(cells, SOURCE) == before  # type: ignore[arg-type]
    with torch.no_grad():
        assert _run_cells(cells, SOURCE) == "ieee"  # type: ignore[arg-type]
    assert torch.backends.cudnn.rnn.fp32_precision == before


def test_the_precision_of_the_process_is_restored_with_threads_and_errors() -> None:
    before = torch.backends.cudnn.rnn.fp32_precision
    first, second, over = (threading.Event() for _ in range(3))

    def run(wait: Callable[[], object]) -> str:
        with torch.no_grad():
            found: str = _run_cells(Cells(wait), SOURCE)  # type: ignore[arg-type]
        return found

    def begin() -> None:
        first.set()
        second.wait(0.2)  # nobody comes in meanwhile; if somebody did, what is put back would be wrong

    def fail() -> None:
        second.set()
        assert over.wait(300)
        raise ValueError

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(run, begin)
        one.add_done_callback(lambda _: over.set())
        assert first.wait(300)
        other = threads.submit(run, fail)
    assert one.result() == "ieee"
    assert isinstance(other.exception(), ValueError)
    assert torch.backends.cudnn.rnn.fp32_precision == before
