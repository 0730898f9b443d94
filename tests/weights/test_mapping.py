"""Rules: each operation there and back, and one error for everything that does not fit."""

import pytest
import torch
from torch import Tensor

from families import Given
from glassformer.errors import CheckpointError
from glassformer.weights.mapping import (
    ROW,
    TRANSPOSED,
    Rule,
    Table,
    carry,
    carry_layer,
    group_layers,
    ignore,
    read,
    unwritable,
    write,
)


def read_all(table: Table, ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    return dict(read(table, ours, Given(theirs)))


TABLE = Table(
    (
        Rule(("net.words",), "words", also=("out.words",)),
        *carry_layer(("net.{}.q", "net.{}.k"), "layers.{}.qk"),
        *carry_layer("net.{}.up", "layers.{}.up", TRANSPOSED),
        Rule(("net.bias",), "bias", ROW, optional=True),
        Rule((), "extra"),
        *ignore("net.{}.buffer"),
    ),
    prefix="net.",
    other_names={r"\.gamma$": ".weight"},
)
OURS = {
    "words": torch.zeros(5, 2),
    "layers.0.qk.weight": torch.zeros(4, 2),
    "layers.0.qk.bias": torch.zeros(4),
    "layers.0.up.weight": torch.zeros(3, 2),
    "layers.0.up.bias": torch.zeros(3),
    "layers.1.qk.weight": torch.zeros(4, 2),
    "layers.1.qk.bias": torch.zeros(4),
    "layers.1.up.weight": torch.zeros(3, 2),
    "layers.1.up.bias": torch.zeros(3),
    "bias": torch.zeros(5),
    "extra": torch.zeros(2),
}


def theirs() -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(1)
    shapes = {"net.words": (5, 2), "net.bias": (1, 5)}
    for layer in range(2):
        shapes |= {f"net.{layer}.{part}.weight": (2, 2) for part in "qk"}
        shapes |= {f"net.{layer}.{part}.bias": (2,) for part in "qk"}
        shapes |= {f"net.{layer}.up.weight": (2, 3), f"net.{layer}.up.bias": (3,)}
    return {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}


def test_each_operation_reads_what_it_should() -> None:
    given = theirs()
    ours = read_all(TABLE, OURS, given)
    assert set(ours) == set(OURS)
    assert torch.equal(ours["words"], given["net.words"])
    assert torch.equal(ours["layers.1.qk.weight"][:2], given["net.1.q.weight"])
    assert torch.equal(ours["layers.1.qk.weight"][2:], given["net.1.k.weight"])
    assert torch.equal(ours["layers.0.up.weight"], given["net.0.up.weight"].t())
    assert torch.equal(ours["layers.0.up.bias"], given["net.0.up.bias"])
    assert torch.equal(ours["bias"], given["net.bias"][0])
    assert not ours["extra"].any()


def test_writing_undoes_reading() -> None:
    given = theirs()
    back = write(TABLE, read_all(TABLE, OURS, given))
    assert set(back) == set(given)
    assert all(torch.equal(back[name], given[name]) for name in given)


def test_the_prefix_may_be_missing_and_endings_may_be_old() -> None:
    given = {name.removeprefix("net."): tensor for name, tensor in theirs().items()}
    given["0.up.gamma"] = given.pop("0.up.weight")
    ours = read_all(TABLE, OURS, given)
    assert torch.equal(ours["layers.0.up.weight"], given["0.up.gamma"].t())


def test_known_buffers_of_any_layer_are_ignored() -> None:
    read_all(TABLE, OURS, theirs() | {"net.0.buffer": torch.ones(1), "net.17.buffer": torch.ones(1)})


def test_what_is_optional_is_zero_when_missing() -> None:
    given = theirs()
    del given["net.bias"]
    assert not read_all(TABLE, OURS, given)["bias"].any()


def test_a_tied_tensor_may_stand_under_either_name_or_both() -> None:
    given = theirs()
    words = given["net.words"]
    assert torch.equal(read_all(TABLE, OURS, given | {"out.words": words.clone()})["words"], words)
    del given["net.words"]
    assert torch.equal(read_all(TABLE, OURS, given | {"out.words": words})["words"], words)


def test_different_numbers_under_tied_names_are_a_contradiction() -> None:
    given = theirs()
    with pytest.raises(CheckpointError, match=r"ties out\.words to net\.words.*tie_word_embeddings to false"):
        read_all(TABLE, OURS, given | {"out.words": given["net.words"] + 1})


def test_every_misfit_is_told_at_once() -> None:
    given = theirs()
    del given["net.words"], given["net.1.k.bias"]
    given["net.0.up.weight"] = torch.zeros(3, 2)  # not transposed
    given |= {"net.2.up.bias": torch.zeros(3), "stranger": torch.zeros(1)}
    with pytest.raises(CheckpointError) as caught:
        read_all(TABLE, OURS, given)
    text = str(caught.value)
    assert "2 missing: net.words, net.1.k.bias" in text
    assert "2 not needed: net.2.up.bias, stranger" in text
    assert "1 of another shape: net.0.up.weight is (3, 2), expected (2, 3)" in text


def test_a_joined_part_of_another_shape_is_told_by_its_own_name() -> None:
    with pytest.raises(CheckpointError, match=r"net\.0\.k\.weight is \(3, 2\), expected \(2, 2\)"):
        read_all(TABLE, OURS, theirs() | {"net.0.k.weight": torch.zeros(3, 2)})


def test_the_same_thing_twice_is_surplus() -> None:
    with pytest.raises(CheckpointError, match="1 not needed: words"):
        read_all(TABLE, OURS, theirs() | {"words": torch.zeros(5, 2)})


def test_nothing_is_read_before_everything_fits() -> None:
    class Unreadable(Given):
        def tensor(self, name: str) -> Tensor:
            raise AssertionError("read too early")

    given = theirs()
    del given["net.words"]
    with pytest.raises(CheckpointError, match="1 missing"):
        read(TABLE, OURS, Unreadable(given))


def test_a_long_list_is_grouped_cut_and_counted() -> None:
    layers = [f"h.{layer}.weight" for layer in range(12)]
    assert [str(name) for name in group_layers(layers)] == ["h.{}.weight (in 12 layers)"]
    assert group_layers(["a", "b"]) == ["a", "b"]
    shown = [str(name) for name in group_layers([*layers, *(f"name_{letter}" for letter in "abcdefghijkl")])]
    assert shown[:2] == ["h.{}.weight (in 12 layers)", "name_a"]
    assert shown[-2:] == ["name_g", "5 more"]


def test_what_they_have_no_place_for_must_be_zero() -> None:
    ours = read_all(TABLE, OURS, theirs())
    assert unwritable(TABLE, ours) == []
    assert unwritable(TABLE, ours | {"extra": torch.ones(2)}) == ["extra"]


def test_a_tensor_of_ours_without_a_rule_is_our_own_mistake() -> None:
    with pytest.raises(AssertionError, match="forgotten"):
        write(TABLE, OURS | {"forgotten": torch.zeros(1)})


def test_carry_joins_several() -> None:
    table = Table((carry(("a", "b"), "ours"),))
    ours = read_all(table, {"ours": torch.zeros(4)}, {"a": torch.ones(2), "b": torch.zeros(2)})
    assert ours["ours"].tolist() == [1, 1, 0, 0]
