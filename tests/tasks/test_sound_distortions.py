"""An augmented sound is the same sound with another timbre and loudness, and the gaps and noise asked for."""

import torch

from glassformer.tasks.sound_distortions import GAPS, QUIETEST, SOFTEST, augment

ROWS, LENGTH = 64, 4000


def _tones() -> torch.Tensor:
    """As loud at every frequency: a click in the middle of each row."""
    clicks = torch.zeros(ROWS, LENGTH)
    clicks[:, LENGTH // 2] = 1.0
    return clicks


def test_only_the_loudness_changes_where_nothing_is_asked_for() -> None:
    torch.manual_seed(0)
    found = augment(_tones(), equalise=0.0, masked=0.0, noise=0.0)
    loudness = found[:, LENGTH // 2]
    assert torch.equal(found, loudness[:, None] * _tones())
    assert SOFTEST <= float(loudness.min()) < float(loudness.max()) <= 1


def test_the_equaliser_changes_frequencies_by_decibels() -> None:
    torch.manual_seed(0)
    found = torch.fft.rfft(augment(_tones(), equalise=6.0, masked=0.0, noise=0.0)).abs()
    decibels = 20 * found.log10()
    ends = decibels[:, [0, -1]] - decibels.mean(1, keepdim=True)  # loudness is the same at all frequencies
    assert 4 < float(ends.std()) < 8
    steps = decibels.diff(dim=1).abs()
    assert float(steps.max()) < 0.2  # a smooth line


def test_what_is_masked_is_silent() -> None:
    torch.manual_seed(0)
    noise = torch.randn(ROWS, LENGTH)
    found = augment(noise, equalise=0.0, masked=0.3, noise=0.0)
    silent = (found == 0).float().mean(1)
    assert 0.1 < float(silent.mean()) < 0.2  # three pieces of up to a tenth, half of that on average
    assert float(silent.max()) <= 0.3 + GAPS / LENGTH
    whole = torch.fft.rfft(augment(_tones(), equalise=0.0, masked=0.3, noise=0.0)).abs()
    kept = whole.amax(1) > 0  # the click itself may lie in a gap
    missing = (whole[kept] < 0.3 * whole[kept].median(1, keepdim=True).values).float().mean(1)  # gaps smear
    assert 0.1 < float(missing.mean()) < 0.2
    assert float(missing.max()) <= 0.3


def test_noise_is_as_loud_as_asked_for_at_most() -> None:
    torch.manual_seed(0)
    found = augment(torch.zeros(ROWS, LENGTH), equalise=0.0, masked=0.0, noise=0.1).std(1).log10()
    assert -1 - QUIETEST - 0.1 < float(found.min()) < -3
    assert -1.5 < float(found.max()) < -0.95


def test_noise_is_softer_than_the_sound_by_the_decibels_asked_for() -> None:
    torch.manual_seed(0)
    heard = torch.zeros(ROWS, LENGTH)  # silence behind the end of a sound says nothing about its loudness
    heard[:, : LENGTH // 2] = torch.randn(ROWS, LENGTH // 2) * torch.logspace(-3, 0, ROWS)[:, None]
    torch.manual_seed(1)
    clean = augment(heard, equalise=3.0, masked=0.0, noise=0.0)
    torch.manual_seed(1)
    noisy = augment(heard, equalise=3.0, masked=0.0, noise=0.5, snr=[10.0, 40.0])
    power = clean[:, : LENGTH // 2].square().mean(1)
    decibels = 10 * (power / (noisy - clean).square().mean(1)).log10()
    assert 9 < float(decibels.min()) < 13
    assert 37 < float(decibels.max()) < 41
    assert not (augment(torch.zeros(2, 9), equalise=0.0, masked=0.0, noise=0.0, snr=[0.0, 0.0])).any()
