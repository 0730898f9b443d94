"""Recommending films: features of users and films are learnt so that their dot product matches known likes.

In:   how many features, how many of the likes are hidden, steps of training.
Out:  what was known, what the dot products say of every pair, the films in the plane of their features.
      Nobody tells the network what a feature means; whether films of one kind lie together is measured.
"""

import torch
from torch import Tensor, nn

from glassformer.lessons.figures import axis, matrix, measure, numbers, percent, seeded
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Arrow, Figure, Points
from glassformer.messages import Message, message

KINDS = ("romance", "action", "both")  # what the films are; never shown to the network
FILMS = {"R1": 0, "R2": 0, "R3": 0, "A1": 1, "A2": 1, "A3": 1, "RA1": 2, "RA2": 2}
USERS = {  # what each likes, 1, or does not, -1: romance, action, films that are both
    "U1": (1, -1, 1),
    "U2": (1, -1, -1),
    "U3": (-1, 1, 1),
    "U4": (-1, 1, -1),
    "U5": (1, 1, 1),
    "U6": (-1, -1, -1),
    "U7": (1, -1, 1),
    "U8": (-1, 1, 1),
}
RATE = 0.05


def compute(inputs: Inputs) -> Result:
    """Train on the known likes and look at all of them."""
    likes, known = make_likes(), choose_known(inputs.integer("unknown"), inputs.integer("seed"))
    users, films = train(
        likes, known, inputs.integer("features"), inputs.integer("steps"), inputs.integer("seed")
    )
    said = users @ films.T
    shown = torch.where(known, likes, torch.nan)
    rows = axis([*USERS], "lessons.films.user")
    columns = axis([*FILMS], "lessons.films.film")
    near, far = compare_kinds(films)
    right, hidden = count_right(said, likes, ~known), int((~known).sum())
    figures: list[Figure] = [
        matrix(
            "known", "lessons.films.known", shown, rows, columns, ends=(-1.0, 1.0), note="lessons.films.gaps"
        ),
        matrix("said", "lessons.films.said", said, rows, columns),
        _draw(films),
        numbers(
            "numbers",
            "lessons.films.learnt",
            measure("lessons.films.right_known", count_right(said, likes, known)),
            measure("lessons.films.of_known", int(known.sum())),
            measure("lessons.films.right_hidden", right),
            measure("lessons.films.of_hidden", hidden),
            measure("lessons.films.near", near),
            measure("lessons.films.far", far),
        ),
    ]
    return Result(_find(inputs.integer("steps"), right, hidden, near, far), figures)


def make_likes() -> Tensor:
    """What every user thinks of every film. (user, film)"""
    return torch.tensor([[float(taste[kind]) for kind in FILMS.values()] for taste in USERS.values()])


def choose_known(unknown: int, seed: int) -> Tensor:
    """Which likes are known: all but so many, drawn at random. (user, film)"""
    known = torch.ones(len(USERS) * len(FILMS), dtype=torch.bool)
    known[torch.randperm(len(known), generator=seeded(seed))[:unknown]] = False
    return known.view(len(USERS), len(FILMS))


def train(likes: Tensor, known: Tensor, features: int, steps: int, seed: int) -> tuple[Tensor, Tensor]:
    """Features of users (user, feature) and of films (film, feature), from the known likes alone."""
    random = seeded(seed)
    users = nn.Parameter(0.3 * torch.randn(len(USERS), features, generator=random))
    films = nn.Parameter(0.3 * torch.randn(len(FILMS), features, generator=random))
    optimiser = torch.optim.Adam((users, films), lr=RATE)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = nn.functional.mse_loss((users @ films.T)[known], likes[known])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return users.detach(), films.detach()


def count_right(said: Tensor, likes: Tensor, chosen: Tensor) -> int:
    """Of the chosen pairs, those where the sign of the dot product is that of the like."""
    return int(((said > 0) == (likes > 0))[chosen].sum())


def compare_kinds(films: Tensor) -> tuple[float, float]:
    """The mean cosine of two films of one kind, and of two of different kinds."""
    directions = nn.functional.normalize(films, dim=1)
    cosines = directions @ directions.T
    kinds = torch.tensor(list(FILMS.values()))
    same = kinds[:, None] == kinds
    return float(cosines[same & ~torch.eye(len(kinds), dtype=torch.bool)].mean()), float(
        cosines[~same].mean()
    )


def _draw(films: Tensor) -> Points:
    """The films in the plane of their first two features; a single feature lies on a line."""
    plane = nn.functional.pad(films, (0, max(0, 2 - films.shape[1])))[:, :2]
    return Points(
        id="films",
        title=message("lessons.films.plane"),
        note=message("lessons.films.never_told"),
        arrows=tuple(
            Arrow(label=name, x=x, y=y, group=kind)
            for (name, kind), (x, y) in zip(FILMS.items(), plane.tolist(), strict=True)
        ),
        groups=tuple(message(f"lessons.films.kind.{kind}") for kind in KINDS),
        reach=float(plane.abs().max()) or 1.0,
    )


def _find(steps: int, right: int, hidden: int, near: float, far: float) -> Message:
    """What came of it: hidden likes that were guessed, and whether kinds of films lie together."""
    if not steps:
        return message("lessons.films.untrained")
    apart = message("lessons.films.together" if near > far else "lessons.films.scattered", near=near, far=far)
    if not hidden:
        return message("lessons.films.nothing_hidden", apart=apart)
    return message(
        "lessons.films.found", right=right, hidden=hidden, share=percent(right / hidden), apart=apart
    )
