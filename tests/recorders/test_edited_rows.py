"""Which rows of a batch exist at a layer, which are edited there, and in which order results come."""

import pytest
import torch

import glassformer as gf
from glassformer.errors import InputError
from glassformer.recorders.edited_rows import EditedRows, can_share_batch, change_rows, copy_rows
from glassformer.recorders.edits.active import ActiveEdits

DEPTHS = {"encoder": 2, "decoder": 3}
LATE, EARLY = gf.AblateHead("decoder", "cross", 1, 0), gf.AblateHead("encoder", "self", 1, 0)
EVERYWHERE = gf.ScaleScores(2.0)


def test_rows_join_where_their_edits_begin() -> None:
    rows = EditedRows([(LATE,), (EARLY,), (LATE, EVERYWHERE)], DEPTHS)
    places = [(stack, layer) for stack, depth in DEPTHS.items() for layer in range(depth)]
    assert [rows.count(*place) for place in places] == [2, 3, 3, 4, 4]
    assert rows.order == [2, 1, 0]


def test_only_rows_that_are_edited_at_a_place_are_shown() -> None:
    rows = EditedRows([(LATE,), (EARLY,)], DEPTHS)
    assert [part for part, _ in rows.at(gf.Place("encoder", "self", 1), 2)] == [slice(1, 2)]
    assert [part for part, _ in rows.at(gf.Place("decoder", "cross", 1), 3)] == [slice(2, 3)]
    assert not list(rows.at(gf.Place("decoder", "self", 1), 3))


def test_an_edit_that_touches_no_layer_is_refused() -> None:
    with pytest.raises(InputError, match="layer 7"):
        EditedRows([(gf.AblateHead("decoder", "self", 7, 0),)], DEPTHS)


def test_copies_of_the_first_row() -> None:
    batch = torch.arange(6.0).view(2, 3)
    assert copy_rows(batch, 2) is batch
    assert copy_rows(batch, 4).tolist() == [[0, 1, 2], [3, 4, 5], [0, 1, 2], [0, 1, 2]]


def test_rows_are_changed_by_their_own_edits_alone() -> None:
    batch = torch.zeros(3, 2)
    active = ActiveEdits()
    changed = change_rows(
        batch, [(slice(1, 2), active), (slice(2, 3), active)], lambda part, rows, _: part + rows.start
    )
    assert changed.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert not batch.any()
    assert change_rows(batch, [(slice(1, 2), active)], lambda part, _, __: part) is batch
    whole = change_rows(batch, [(slice(None), active)], lambda part, _, __: part + 5)
    assert (whole == 5).all()


def test_edits_that_choose_layers_share_no_batch() -> None:
    assert can_share_batch([(LATE,), (EVERYWHERE,)])
    assert not can_share_batch([(LATE,), (gf.FirstLayers(2),)])
