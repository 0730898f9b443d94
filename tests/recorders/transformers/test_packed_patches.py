"""Rows of patches are named by the places that the model itself gives them; see also test_labels.py."""

import torch
import transformers as hf

from glassformer.recorders.transformers.packed_patches import PackedPatches


def test_angles_that_are_not_those_of_the_places_give_no_names() -> None:
    torch.manual_seed(0)
    vision = {
        "depth": 2, "hidden_size": 32, "out_hidden_size": 32, "num_heads": 4, "patch_size": 4,
        "intermediate_size": 48, "spatial_merge_size": 2, "window_size": 16, "fullatt_block_indexes": [1],
    }  # fmt: skip
    model = hf.AutoModel.from_config(hf.Qwen2_5_VLConfig(vision_config=vision).vision_config).eval()
    packed = PackedPatches(model, "patch_embed.proj")
    with packed.watching(), torch.no_grad():
        model(torch.randn(96, 96), grid_thw=torch.tensor([[1, 8, 12]]))
    found = packed.find()
    assert found is not None
    assert (found.rows, found.columns, found.pixels.shape) == (8, 12, (3, 32, 48))
    # Squares of two by two patches, four of which are a window: the fifth square is the first of the second.
    assert [divmod(int(cell), 12) for cell in found.cells[:5]] == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2)]
    assert divmod(int(found.cells[16]), 12) == (0, 4)
    assert packed.turned is not None
    packed.turned = packed.turned + 1
    assert packed.find() is None
