"""The spectrogram agrees with its definition in float64, and says what is heard when."""

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from glassformer.model.spectrogram import LogMel, RelativeLogMel, StandardisedLogMel, warp_filters
from glassformer.rounding import rounding
from tolerances import assert_near

RATE, HOP, BANDS = 8000, 80, 40


def reference(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The definition, term by term, in float64: no fast transform, no library of signals."""
    length, size = 200, 256
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
    columns = -(-len(samples) // HOP)
    padded = np.concatenate((np.zeros(1000), samples, np.zeros(1000)))
    turns = np.exp(-2j * np.pi * np.outer(np.arange(size // 2 + 1), np.arange(length)) / size)
    mel = np.linspace(0, 2595 * np.log10(1 + RATE / 1400), BANDS + 2)
    corners = 700 * (10 ** (mel / 2595) - 1)
    hertz = np.arange(size // 2 + 1) * RATE / size
    found = np.zeros((BANDS, columns))
    for column in range(columns):
        middle = 1000 + column * HOP + HOP // 2
        power = np.abs(turns @ (window * padded[middle - length // 2 : middle + length // 2])) ** 2
        for band in range(BANDS):
            left, top, right = corners[band : band + 3]
            shares = np.clip(
                np.minimum((hertz - left) / (top - left), (right - hertz) / (right - top)), 0, None
            )
            found[band, column] = (np.log10(max(shares @ power / (length / 4) ** 2, 1e-8)) + 8) / 4
    return found


def test_it_is_what_the_definition_says() -> None:
    samples = np.random.default_rng(0).normal(size=1030) * np.linspace(0, 0.5, 1030)
    spectrogram = LogMel(rate=RATE, hop=HOP, bands=BANDS)
    wanted = reference(samples)
    assert wanted.shape == (40, 13)
    assert_near(spectrogram.double()(torch.tensor(samples)[None])[0], wanted, dtype="float64", summands=256)
    single = LogMel(rate=RATE, hop=HOP, bands=BANDS)(torch.tensor(samples, dtype=torch.float32)[None])[0]
    assert_near(single, wanted, summands=256)


def test_a_full_tone_is_two_and_silence_zero() -> None:
    spectrogram = LogMel(rate=RATE, hop=HOP, bands=BANDS)
    tone = torch.sin(2 * torch.pi * 1000 / RATE * torch.arange(8000))
    sound = torch.cat((torch.zeros(4000), tone[:4000]))[None]
    found = spectrogram(sound)[0]
    assert not found[:, :45].any()
    assert found[:, 60].max() == pytest.approx(2.0, abs=0.05)
    assert int(found[:, 60].argmax()) in (17, 18)  # 1000 mel of 2146, of 41 steps


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_its_tables_stay_exact_in_lower_precision(kind: torch.dtype) -> None:
    sound = torch.randn(1, 900, generator=torch.Generator().manual_seed(1))
    spectrogram = LogMel(rate=RATE, hop=HOP, bands=BANDS)
    wanted = spectrogram(sound)
    found = spectrogram.to(kind)(sound)
    assert found.dtype == torch.float32
    assert torch.equal(found, wanted)
    assert list(spectrogram.state_dict()) == []


def test_the_standardised_one_hears_neither_loudness_nor_a_microphone() -> None:
    """In float64 beside the definition; what is four times as loud, or padded, gives the same."""
    samples = np.random.default_rng(4).normal(size=8000) * np.linspace(0.05, 0.5, 8000)
    spectrogram = StandardisedLogMel(rate=RATE, hop=HOP, bands=BANDS).double()
    found = spectrogram(torch.tensor(samples)[None])[0]
    loud = reference(samples)
    deviation = loud.std(axis=1, keepdims=True)
    wanted = (loud - loud.mean(axis=1, keepdims=True)) / (deviation + 0.01)
    assert_near(found, wanted, dtype="float64", summands=256, magnitude=100.0)
    assert_near(spectrogram(torch.tensor(4 * samples)[None])[0], found, dtype="float64", magnitude=100.0)
    longer = np.concatenate((samples, np.zeros(4000)))
    real = torch.arange(150)[None] < 100
    heard = spectrogram(torch.tensor(longer)[None], None, real)[0]
    assert_near(heard[:, :100], found, dtype="float64", summands=256, magnitude=100.0)
    assert not heard[:, 100:].any()


def test_the_relative_one_is_whispers() -> None:
    """In float64 beside their NumPy code, and in float32 beside their torch code."""
    generator = np.random.default_rng(3)
    samples = generator.normal(size=16_000) * np.linspace(0, 0.3, 16_000)
    samples[:4_000] = 0
    extractor = transformers.WhisperFeatureExtractor(feature_size=80, chunk_length=1)
    ours = RelativeLogMel(rate=16_000, hop=160, bands=80)
    wanted = extractor._np_extract_fbank_features(samples[None], "cpu")
    double = ours.double()(torch.from_numpy(samples)[None])
    assert double.shape == (1, 80, 100)
    np.testing.assert_allclose(double, wanted, rtol=0, atol=rounding(summands=400, magnitude=2.0))
    heard = samples.astype(np.float32)
    theirs = extractor(heard, sampling_rate=16_000, return_tensors="pt")["input_features"]
    assert_near(RelativeLogMel(rate=16_000, hop=160, bands=80)(torch.from_numpy(heard)[None]), theirs)
    assert float(theirs.max() - theirs.min()) == pytest.approx(2.0)


@pytest.mark.parametrize("kind", [LogMel, StandardisedLogMel, RelativeLogMel])
def test_a_longer_vocal_tract_is_heard_as_lower_tones(kind: type[LogMel]) -> None:
    spectrogram = kind(rate=RATE, hop=HOP, bands=BANDS)
    times = torch.arange(8000) / RATE

    def tone(hertz: float) -> torch.Tensor:
        return torch.sin(2 * torch.pi * hertz * times)

    factors = torch.tensor([1.0, 1.25, 0.8])
    with spectrogram.warp(factors):
        found = spectrogram(tone(1000).expand(3, -1))[:, :, 50]
    assert torch.equal(found[0], spectrogram(tone(1000)[None])[0, :, 50])
    for row, factor in zip(found[1:], factors[1:], strict=True):
        wanted = spectrogram(tone(1000 / float(factor))[None])[0, :, 50]
        assert abs(int(row.argmax()) - int(wanted.argmax())) <= 1
        assert int(row.argmax()) != int(found[0].argmax())


def test_a_warped_frequency_is_read_where_the_formula_says() -> None:
    """Jaitly and Hinton: f times the factor up to the knee, then straight to the highest frequency."""
    for factor in (0.8, 0.9, 1.0, 1.1, 1.25):
        shares = warp_filters(torch.eye(101, dtype=torch.float64), torch.tensor([factor]))[0]
        read = shares @ torch.arange(101.0, dtype=torch.float64)
        knee = 60 * min(factor, 1) / factor
        for bin_, place in enumerate(read.tolist()):
            slope = (100 - knee * factor) / (100 - knee)
            wanted = bin_ * factor if bin_ <= knee else 100 - slope * (100 - bin_)
            assert place == pytest.approx(wanted, abs=1e-5)
