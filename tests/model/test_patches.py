"""Pictures become patches, each with a place in two dimensions."""

from typing import Any

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.patches import GridRotation, cut_patches, grid_table
from glassformer.model.positions import rotate, sinusoidal_table
from glassformer.model.transformer import Transformer
from tolerances import assert_near

SETTINGS: dict[str, Any] = {
    **{"reads": "picture", "shape": "encoder", "picture_size": 6, "patch_size": 2, "color": False},
    **{"layers": 2, "width": 16, "heads": 2, "feed_forward": 24, "head": "classes", "classes": 3},
}


def build(**settings: Any) -> Transformer:
    torch.manual_seed(1)
    return Transformer(ModelConfig(**{**SETTINGS, **settings})).eval()


def test_patches_are_cut_row_by_row() -> None:
    pixels = torch.arange(2 * 4 * 6.0).view(1, 2, 4, 6)
    patches = cut_patches(pixels, 2)
    assert patches.shape == (1, 6, 8)
    assert patches[0, 4].tolist() == pixels[0, :, 2:4, 2:4].flatten().tolist()  # row 1, column 1


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "none"])
@pytest.mark.parametrize("class_token", [True, False])
def test_order_of_patches_matters_unless_there_are_no_positions(positions: str, class_token: bool) -> None:
    network = build(positions=positions, class_token=class_token, pooling="first" if class_token else "mean")
    pixels = torch.rand(1, 1, 6, 6, generator=torch.Generator().manual_seed(2)) * 2 - 1
    moved = pixels.roll(2, dims=3)  # the patches of each row in another order
    assert network.encode(pixels).shape == (1, 9 + class_token, 16)
    with torch.no_grad():
        here, there = network(pixels), network(moved)
    if positions == "none":
        assert_near(there, here, layers=2)
    else:
        assert (there - here).abs().max() > 1e-3


def test_rows_and_columns_have_half_of_the_features_each() -> None:
    table, line = grid_table(3, 16), sinusoidal_table(3, 8)
    assert torch.equal(table[5], torch.cat((line[1], line[2])))  # row 1, column 2
    network = build(positions="sinusoidal")
    assert network.perception is not None
    assert not network.perception.positions(torch.tensor([0])).any()  # type: ignore[misc]


def test_rotary_scores_know_both_distances_and_nothing_else() -> None:
    config = ModelConfig(**{**SETTINGS, "positions": "rotary", "picture_size": 12})  # 6 × 6 patches
    rotary = GridRotation(config)
    vectors = torch.randn(2, 8, generator=torch.Generator().manual_seed(3))

    def score(query: tuple[int, int], key: tuple[int, int]) -> float:
        places = torch.tensor([1 + 6 * row + column for row, column in (query, key)])
        turned = rotate(vectors, rotary(places))
        return float(turned[0] @ turned[1])

    assert_near(score((0, 1), (2, 0)), score((3, 5), (5, 4)), magnitude=float(vectors.norm() ** 2))
    assert abs(score((0, 1), (2, 0)) - score((0, 0), (2, 0))) > 1e-3
    assert abs(score((0, 1), (2, 0)) - score((0, 1), (1, 0))) > 1e-3
    assert torch.equal(rotate(vectors[:1], rotary(torch.tensor([0]))), vectors[:1])  # the class token


def test_what_is_no_picture_is_refused() -> None:
    network = build()
    for wrong in (torch.zeros(1, 3, 6, 6), torch.zeros(1, 1, 6, 8), torch.zeros(1, 1, 6, 6).long()):
        with pytest.raises(InputError, match=r"expected numbers from -1 to 1.*1, 6, 6"):
            network(wrong)
    with pytest.raises(InputError, match="real"):
        network(torch.zeros(1, 1, 6, 6), torch.ones(1, 4, dtype=torch.bool))
