"""Places of a feature map have names only where a stack reads exactly them; see also test_labels.py."""

import torch

from glassformer.recorders.transformers.feature_maps import FeatureMaps


def test_places_that_a_block_is_not_given_as_they_are_have_no_names() -> None:
    torch.manual_seed(0)
    maps = FeatureMaps(torch.nn.ModuleDict({
        "projection": torch.nn.Conv2d(3, 4, 1), "layers": torch.nn.ModuleList([torch.nn.Identity()]),
    }))  # fmt: skip
    for moved, found in ((0.0, (2, 3)), (0.1, None)):
        maps.shapes.clear()
        with maps.watching():
            made = maps.model["projection"](torch.rand(1, 3, 2, 3))  # type: ignore[index]
            maps.model["layers"][0](made.flatten(2).transpose(1, 2) + moved)  # type: ignore[index]
        assert maps.find(6) == found
