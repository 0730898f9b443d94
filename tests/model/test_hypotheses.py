"""Hypotheses and the tree of tokens that a search considered."""

from typing import Any

import pytest

from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Node
from tolerances import assert_near

END = 2


def test_words_leave_out_the_end(pair: Any) -> None:
    for row in generate(pair.ours, pair.ids, pair.real, GenerationSettings(max_new_tokens=16)):
        assert (row.ids[-1] == END) == (row.stopped == "end")
        assert row.words == (row.ids[:-1] if row.stopped == "end" else row.ids)
        assert END not in row.words


def check_tree(nodes: list[Node], beams: int, last_step: int) -> None:
    """Every node hangs on one that was kept a step before; each step keeps as many as there are beams."""
    by_id = {node.id: node for node in nodes}
    assert len(by_id) == len(nodes)
    for node in nodes:
        if node.step == 0:
            assert node.parent == -1
            assert node.total == pytest.approx(node.log_probability)
            continue
        parent = by_id[node.parent]
        assert (parent.state, parent.step) == ("kept", node.step - 1)
        assert_near(node.total, parent.total + node.log_probability, layers=2)
    for step in range(last_step + 1):
        here = [node for node in nodes if node.step == step]
        assert len(here) == 2 * beams
        assert [node.total for node in here] == sorted((node.total for node in here), reverse=True)
        kept = [node for node in here if node.state == "kept"]
        going_on = [node for node in here if node.token != END][:beams]
        assert kept == going_on or (step == last_step and not kept)
        for rank, node in enumerate(here):
            if node.token == END:
                assert node.state == ("finished" if rank < beams else "dropped")


@pytest.mark.parametrize("early_stopping", [True, False])
def test_tree_holds_everything(pair: Any, early_stopping: bool) -> None:
    beams, new = 4, 12
    settings = GenerationSettings(
        beams=beams, n_best=beams, max_new_tokens=new, early_stopping=early_stopping, alternatives=3
    )
    generated = generate(pair.ours, pair.ids, pair.real, settings)
    ends = set()
    for row, whole in enumerate(generated):
        nodes = whole.tree.nodes
        last_step = max(node.step for node in nodes)
        ends.add(last_step)
        assert {node.row for node in nodes} == {row}
        check_tree(nodes, beams, last_step)
        finished = {
            tuple(node.token for node in whole.tree.path(node.step, node.id)): node.total / (node.step + 1)
            for node in nodes
            if node.state == "finished"
        }
        best = sorted(finished.values(), reverse=True)[:beams]
        assert_near([hypothesis.score for hypothesis in whole.n_best], best, layers=2)
        for hypothesis in whole.n_best:
            assert hypothesis.score == pytest.approx(finished[hypothesis.ids])
            assert_near(hypothesis.total, hypothesis.score * len(hypothesis.ids), layers=2)
        for node in nodes:
            siblings = [other for other in nodes if (other.step, other.parent) == (node.step, node.parent)]
            assert len(node.alternatives) == 3
            for sibling, choice in zip(siblings, node.alternatives, strict=False):
                assert (sibling.token, sibling.log_probability) == (choice.token, choice.log_probability)
    assert len(ends) > 1 or not early_stopping, (
        "all searches end together: nothing shows that they end on their own"
    )
