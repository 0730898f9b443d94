"""Joint decoding: what the encoder tells by CTC, beside the sum over all its paths; and with a decoder."""

from itertools import groupby, product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

import glassformer as gf
from glassformer.errors import InputError
from glassformer.model.generate import generate
from glassformer.model.joint import JointDecoding
from glassformer.model.prompt import read_prompt
from glassformer.model.recurrent import RecurrentTranslator
from tolerances import assert_near

BLANK, START, END, SIZE = 0, 2, 3, 5


class Decoder:
    """A decoding that always has the same logits, and counts how often it is asked for the next."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits
        self.steps = 0

    def step(self, ids: Tensor) -> Tensor:
        self.steps += 1
        self.logits = self.logits[:1].expand(len(ids), -1)
        return self.logits

    def select(self, rows: Tensor) -> None:
        pass

    def keep(self, sources: Tensor) -> None:
        pass


def follow(frames: Tensor, words: list[list[int]], real: Tensor | None = None, weight: float = 1.0) -> Tensor:
    """Logits after these words, one row for each source."""
    decoder = Decoder(torch.zeros(len(frames), SIZE))
    ids = torch.tensor([[START, *row] for row in words])
    return JointDecoding(decoder, frames, real, ids, weight=weight, blank=BLANK, end=END).logits


def sum_paths(frames: Tensor) -> dict[tuple[int, ...], float]:
    """The probability of every string, over all paths through all frames: the definition of CTC."""
    probabilities = frames.softmax(-1)
    found: dict[tuple[int, ...], float] = {}
    for path in product(range(SIZE), repeat=len(frames)):
        words = tuple(word for word, _ in groupby(path) if word != BLANK)
        share = torch.stack([probabilities[frame, word] for frame, word in enumerate(path)]).prod()
        found[words] = found.get(words, 0.0) + float(share)
    return found


def compute_next(strings: dict[tuple[int, ...], float], words: tuple[int, ...]) -> Tensor:
    """Probabilities of the next word, or of the end, from those of all strings."""
    wanted = torch.zeros(SIZE, dtype=torch.float64)
    for word in range(SIZE):
        begun = (*words, word)
        wanted[word] = sum(each for string, each in strings.items() if string[: len(begun)] == begun)
    wanted[END], wanted[BLANK] = strings[words], 0.0
    return wanted / wanted.sum()


@pytest.mark.parametrize("words", [(), (1,), (4,), (1, 1), (1, 4), (4, 4, 1), (1, 1, 1)])
def test_it_is_the_share_of_all_strings_that_begin_so(words: tuple[int, ...]) -> None:
    frames = 2 * torch.randn(5, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = follow(frames[None], [list(words)])[0].exp()
    assert_near(found, compute_next(sum_paths(frames), words).float(), summands=SIZE**5)


def test_a_padded_sound_gives_what_it_gives_alone() -> None:
    frames = 2 * torch.randn(2, 7, SIZE, generator=torch.Generator().manual_seed(2))
    real = torch.arange(7) < torch.tensor([[7], [4]])
    for words in ([], [1], [1, 1], [4, 1]):
        together = follow(frames, [words, words], real)
        alone = torch.cat((follow(frames[:1], [words]), follow(frames[1:, :4], [words])))
        assert_near(together.exp(), alone.exp(), summands=70)


def test_beams_that_branch_and_sources_that_end_keep_what_they_heard() -> None:
    frames = 2 * torch.randn(3, 6, SIZE, generator=torch.Generator().manual_seed(3))
    decoder = Decoder(torch.zeros(3, SIZE))
    start = torch.full((3, 1), START)
    decoding = JointDecoding(decoder, frames, None, start, weight=1.0, blank=BLANK, end=END)
    decoding.select(torch.tensor([0, 0, 1, 1, 2, 2]))
    decoding.step(torch.tensor([1, 4, 1, 4, 1, 4]))
    decoding.keep(torch.tensor([0, 2]))
    assert_near(decoding.logits, follow(frames[[0, 0, 2, 2]], [[1], [4], [1], [4]]), summands=60)
    decoding.select(torch.tensor([1, 1, 3, 2]))  # of the first source the second beam, twice
    decoding.step(torch.tensor([1, 4, 4, 1]))
    wanted = follow(frames[[0, 0, 2, 2]], [[4, 1], [4, 4], [4, 4], [1, 1]])
    assert_near(decoding.logits, wanted, summands=60)
    assert decoder.steps == 2


class Largest(TorchDispatchMode):
    """How many numbers the largest new tensor has."""

    numbers = 0

    def __torch_dispatch__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
        found = function(*given, **(named or {}))
        tensors = [each for each in tree_flatten(found)[0] if isinstance(each, Tensor)]
        new = [each.numel() for each in tensors if each.is_contiguous()]  # others are expanded views
        self.numbers = max([self.numbers, *new])
        return found


def test_beams_share_what_is_heard() -> None:
    """A number for each beam, frame and word would be gigabytes for a large vocabulary."""
    frames, beams = torch.randn(2, 30, 50, generator=torch.Generator().manual_seed(9)), 8
    decoder = Decoder(torch.zeros(2, 50))
    decoding = JointDecoding(
        decoder, frames, None, torch.full((2, 1), START), weight=1.0, blank=BLANK, end=END
    )
    decoding.select(torch.arange(2).repeat_interleave(beams))
    with Largest() as largest:
        decoding.step(torch.arange(2 * beams) + 4)
    assert 0 < largest.numbers <= frames.numel()


def test_the_weight_is_the_share_of_the_encoder() -> None:
    frames = torch.randn(1, 5, SIZE, generator=torch.Generator().manual_seed(4))
    own = torch.randn(1, SIZE, generator=torch.Generator().manual_seed(5))
    start = torch.full((1, 1), START)
    told = follow(frames, [[]])
    for weight in (0.0, 0.3, 1.0):
        joint = JointDecoding(Decoder(own), frames, None, start, weight=weight, blank=BLANK, end=END)
        wanted = (1 - weight) * own.log_softmax(-1) + weight * told
        assert_near(joint.logits, wanted, summands=10)


@pytest.fixture
def network() -> gf.Transformer:
    torch.manual_seed(6)
    config = gf.ModelConfig(
        vocabulary_size=SIZE,
        reads="sound",
        sample_rate=800,
        hop=20,
        mel_bins=8,
        frame_stride=2,
        layers=1,
        width=16,
        heads=2,
        feed_forward=16,
        start_id=START,
        end_id=END,
        max_length=20,
    )
    return gf.Transformer(config).eval()


@pytest.mark.parametrize("cached", [True, False])
def test_a_network_writes_the_likeliest_string_that_its_encoder_tells(
    network: gf.Transformer, cached: bool
) -> None:
    with torch.no_grad():
        network.embeddings.tokens.weight *= 6  # its frames are sure of something
    sounds = 0.3 * torch.randn(2, 200, generator=torch.Generator().manual_seed(7))
    settings = gf.GenerationSettings(ctc=1.0, beams=60, max_new_tokens=8, length_penalty=0.0, cache=cached)
    frames = network.logits(network.encode(sounds)).detach()
    for answer, row in zip(generate(network, sounds, None, settings), frames, strict=True):
        strings = sum_paths(row.double())
        strings = {words: each for words, each in strings.items() if not {BLANK, END} & set(words)}
        assert answer.words == max(strings, key=strings.__getitem__)


def test_nothing_changes_without_a_weight_and_greedy_heeds_it(network: gf.Transformer) -> None:
    sounds = torch.randn(1, 200, generator=torch.Generator().manual_seed(8))
    plain, joint = (
        read_prompt(network, sounds, None, gf.GenerationSettings(ctc=ctc, max_new_tokens=4), None).decoding
        for ctc in (0.0, 0.4)
    )
    assert not isinstance(plain, JointDecoding)
    told = follow(network.logits(network.encode(sounds)).detach(), [[]])
    assert_near(joint.logits, 0.6 * plain.logits.log_softmax(-1) + 0.4 * told, summands=100)


def test_networks_that_hear_nothing_refuse_it() -> None:
    config = gf.ModelConfig(vocabulary_size=9, layers=1, width=8, heads=2, start_id=1, end_id=2)
    settings = gf.GenerationSettings(ctc=0.3)
    for network in (gf.Transformer(config), RecurrentTranslator(gf.RecurrentConfig(9, width=8, start_id=1))):
        with pytest.raises(InputError, match="ctc"):
            generate(network, torch.tensor([[3, 4]]), None, settings)
