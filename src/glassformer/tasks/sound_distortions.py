"""Augmentation of sounds: other microphones and loudness, missing parts, noise.

In:   samples (sound, sample) on any device.
Out:  the same sounds, changed at random, by torch's random numbers.

Everything is torch, so that it runs where the network does: on a GPU it costs next to nothing.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

BANDS = 10  # points of the equaliser, evenly from 0 to half the rate
SOFTEST = 0.1  # share of the loudness that is left, at least
QUIETEST = 3.0  # powers of ten from the loudest noise to the least
GAPS = 3  # pieces of time that are silenced


def augment(
    samples: Tensor, *, equalise: float, masked: float, noise: float, snr: Sequence[float] | None = None
) -> Tensor:
    """Augment each sound: a random equaliser (decibels), a missing band, another loudness, gaps, noise.

    Noise has a standard deviation of at most `noise`; with `snr`, a signal-to-noise ratio (decibels) between
    these two.
    """
    count, length = samples.shape
    heard = samples != 0  # neither silence between words nor behind the end
    if equalise or masked:
        spectrum = torch.fft.rfft(samples)
        response = _draw_response(samples, spectrum.shape[1], equalise)
        response = response * ~_draw_pieces(samples, spectrum.shape[1], masked)
        samples = torch.fft.irfft(spectrum * response, length)
        for _ in range(GAPS):
            samples = samples * ~_draw_pieces(samples, length, masked / GAPS)
    samples = samples * SOFTEST ** torch.rand(count, 1, device=samples.device)
    if snr is not None:
        power = (samples.square() * heard).sum(1, keepdim=True) / heard.sum(1, keepdim=True).clamp(min=1)
        decibels = snr[0] + (snr[1] - snr[0]) * torch.rand_like(power)
        samples = samples + torch.randn_like(samples) * power.sqrt() * 10 ** (-decibels / 20)
    elif noise:
        loudness = noise * 10 ** (-QUIETEST * torch.rand(count, 1, device=samples.device))
        samples = samples + torch.randn_like(samples) * loudness
    return samples


def _draw_response(samples: Tensor, bins: int, equalise: float) -> Tensor:
    """What each frequency is multiplied by (sound, bin): a random line through BANDS points."""
    points = equalise * torch.randn(len(samples), 1, BANDS, device=samples.device)
    decibels = F.interpolate(points, bins, mode="linear", align_corners=True)[:, 0]
    return 10 ** (decibels / 20)


def _draw_pieces(samples: Tensor, size: int, most: float) -> Tensor:
    """True in one random piece of each row (sound, size), up to the share `most` of it."""
    width = most * torch.rand(len(samples), 1, device=samples.device)
    start = torch.rand_like(width) * (1 - width)
    places = torch.arange(size, device=samples.device) / size
    return (places >= start) & (places < start + width)
