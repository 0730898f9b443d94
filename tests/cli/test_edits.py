"""Edits and ways of decoding, as a person writes them."""

import re
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Command
from glassformer.cli.edits import list_forms, read_decoding, read_edit
from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import (
    AblateHead,
    CutEdge,
    FirstLayers,
    PatchHead,
    PatchPath,
    PatchStates,
    PatchValue,
    ScaleScores,
    Steer,
)

TEXT = "the animal was too tired"


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        ("zero encoder self 2 5", AblateHead("encoder", "self", 2, 5)),
        ("mean decoder cross 0 1", AblateHead("decoder", "cross", 0, 1, "mean")),
        (
            "mean decoder cross 0 1 'It rained.' \"She left.\"",
            AblateHead("decoder", "cross", 0, 1, "mean", ("It rained.", "She left.")),
        ),
        ("resample encoder self 0 1 don't", AblateHead("encoder", "self", 0, 1, "resample", ("don't",))),
        ("zero encoder self 2 5 0,-1", AblateHead("encoder", "self", 2, 5, positions=(0, -1))),
        ("uniform encoder self 0 1", AblateHead("encoder", "self", 0, 1, "uniform")),
        ("cut decoder self 2 5 7 3", CutEdge("decoder", "self", 2, 5, 7, 3)),
        ("cut decoder self all all 7 3", CutEdge("decoder", "self", None, None, 7, 3)),
        ("scale 0.5", ScaleScores(0.5)),
        ("scale 2 decoder", ScaleScores(2.0, stack="decoder")),
        ("scale -1 all cross 3", ScaleScores(-1.0, layer=3, kind="cross")),
        ("first 4", FirstLayers(4)),
        ("first 1 encoder", FirstLayers(1, "encoder")),
        (
            "patch-head decoder self 3 2 'A dog ran' 0,-1",
            PatchHead("decoder", "self", 3, 2, "A dog ran", (0, -1)),
        ),
        (
            "patch-states encoder residual 0 all all Hund",
            PatchStates("encoder", "residual", 0, "all", None, "Hund"),
        ),
        ("patch-value encoder self 0 1 x", PatchValue("encoder", "self", 0, 1, "x")),
        (
            "patch-path decoder self 0 all x decoder.self.2.1.keys,decoder.residual -1",
            PatchPath(
                "decoder",
                "self",
                0,
                None,
                "x",
                ("decoder.self.2.1.keys", "decoder.residual"),
                positions=(-1,),
            ),
        ),
        ("steer decoder 2 1,-2.5e1 1", Steer("decoder", 2, (1.0, -25.0), (1,))),
    ],
)
def test_an_edit_reads_as_it_is_said(words: str, edit: object) -> None:
    assert read_edit(words) == edit


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "''"),
        ("zap encoder self 2 5", "'zap'"),
        ("zero encodr self 2 5", "Did you mean 'encoder'"),
        ("zero vision.encoder self 2 5", "The model has attention in: decoder.self.0"),
        ("zero encoder slef 2 5", "'slef' cannot be the KIND"),
        ("zero encoder self +2 5", "'+2' cannot be the LAYER"),
        ("zero encoder self 1_0 5", "'1_0' cannot be the LAYER"),
        ("first 1.0", "'1.0' cannot be the COUNT"),
        ("uniform encoder self 0 0 all x", "'x' is one part too many"),
        ("resample encoder self 0 0", "Give exactly one text"),
        ("zero encoder self two 5", "'two' cannot be the LAYER"),
        ("zero encoder self all 5", "'all' cannot be the LAYER"),
        ("zero encoder self 2", "has no HEAD"),
        ("zero encoder self 2 5 6 7", "'7' is one part too many"),
        ("cut decoder self all -1 7 3", "'-1' cannot be the HEAD"),
        ("scale much", "'much' cannot be the FACTOR"),
        ("scale nan", "between -1,000,000 and 1,000,000"),
        ("first 0", "At least one layer"),
        ("patch-head decoder self 0 0", "`patch-head decoder self 0 0` has no SOURCE"),
        ("patch-head decoder self 0 0 ''", "Expected a text that is not empty"),
        ("patch-head decoder self 0 0 x 0,b", "'0,b' cannot be the POSITIONS of an edit. Expected numbers"),
        ("patch-path decoder self 0 0 x decoder.self.0.0.keys", "does not come after the sender"),
        ("patch-path decoder self 0 0 x here", "A receiver of a path is 'here'"),
        ("patch-states decoder value 0 x", "'value' cannot be the PART"),
        ("patch-states decoder residual 0 x all y", "Leave out `target`"),
        ("steer decoder 0 1,nan", "'1,nan' cannot be the VECTOR"),
        ("steer decoder 0 missing.npy", "missing.npy could not be read"),
        ("steer decoder 0 1,2", "wide. Give a vector of that width"),
    ],
)
def test_an_edit_that_is_none_names_the_word(words: str, said: str, decoder: Path, complain: Command) -> None:
    assert said in complain("record", decoder, TEXT, "--edit", words)


def test_a_vector_may_be_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "direction.npy", np.array([0.5, -2.0], dtype=np.float32))
    assert read_edit(f"steer encoder 1 '{tmp_path / 'direction.npy'}'") == Steer("encoder", 1, (0.5, -2.0))
    np.save(tmp_path / "matrix.npy", np.zeros((2, 2)))
    with pytest.raises(InputError, match="VECTOR"):
        read_edit(f"steer encoder 1 '{tmp_path / 'matrix.npy'}'")


def test_the_documents_have_every_edit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+) [A-Z]", page, re.MULTILINE) == list(list_forms())


@pytest.mark.parametrize(
    ("words", "beams", "sample", "seed"),
    [
        ("greedy", 1, False, None),
        ("beam 4", 4, False, None),
        ("sample", 1, True, None),
        ("sample 7", 1, True, 7),
    ],
)
def test_a_way_to_decode(words: str, beams: int, sample: bool, seed: int | None) -> None:
    chosen = read_decoding(words.split(), GenerationSettings(beams=3, max_new_tokens=9))
    assert (chosen.beams, chosen.sample, chosen.seed, chosen.max_new_tokens) == (beams, sample, seed, 9)


@pytest.mark.parametrize("number", ["-1", "many", "9" * 5000])
def test_a_number_of_beams_that_cannot_be(number: str) -> None:
    with pytest.raises(InputError) as error:
        read_decoding(["beam", number], GenerationSettings())
    assert error.value.message.code == "cli.edits.not_a_count"
