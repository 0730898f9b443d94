"""The old import path of generation settings still works, with a warning."""

import pytest

import glassformer
from glassformer.model import choosing
from glassformer.model.generation_settings import GenerationSettings


def test_the_old_import_path_warns() -> None:
    with pytest.warns(DeprecationWarning, match="generation_settings.GenerationSettings"):
        assert choosing.GenerationSettings is GenerationSettings
    with pytest.warns(DeprecationWarning, match="sampling.best_of"):
        assert callable(choosing.best_of)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = choosing.other
    assert glassformer.GenerationSettings is GenerationSettings
