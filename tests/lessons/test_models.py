"""The first model that opens and fits."""

from pathlib import Path

import pytest

from glassformer.errors import CheckpointError, InputError
from glassformer.lessons.models import Zoo, open_model
from glassformer.loaded.model import LoadedModel


@pytest.mark.slow
def test_models_that_do_not_open_or_fit_are_passed_over(zoo: Path) -> None:
    opened: list[str] = []

    def open_one(name: str, folder: str) -> LoadedModel:
        opened.append(name)
        if name == "broken":
            raise CheckpointError("weights.no_config", folder=folder)
        return open_model(name, folder)

    names = ("broken", "recurrent", "decoder", "masked", "translator")
    models = Zoo([(name, str(zoo / name)) for name in names], open_one)
    found, _ = models.find(lambda network: network.config.shape == "encoder", "lessons.needs.encoder")
    assert (found.name, opened) == ("masked", ["broken", "recurrent", "decoder", "masked"])
    with pytest.raises(InputError, match="needs a model with learned positions"):
        models.find(lambda _: False, "lessons.needs.learned_positions")
