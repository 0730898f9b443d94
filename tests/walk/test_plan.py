"""The plan of a walk: what happens, in which order, and what a file takes along."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.api.client import InProcessClient
from glassformer.lessons.schema import read_defaults
from glassformer.recording import Recording
from glassformer.render.html.export import list_paths
from glassformer.walk import Arrays, list_arrays, make_plan
from inventions import invent_decoder


def test_a_text_that_is_too_long_for_a_trace_says_so(
    traced: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(traced, trace={})
    assert make_plan(bare).more
    monkeypatch.setattr("glassformer.walk.plan.LONGEST_TRACE", 3)
    plan = make_plan(bare)
    assert not plan.more  # no second run is made in vain
    missing = {step.missing.code for chapter in plan.chapters for step in chapter.steps if step.missing}
    assert missing == {"walk.too_long"}


@pytest.mark.slow
def test_a_file_takes_the_walk_along(traced: Recording) -> None:
    listed = list(list_paths(traced, "x", hidden=False, vectors=False, exact=False))
    assert "recordings/x/walk" in listed
    assert {"playground", *(f"playground/{name}" for name in read_defaults().results)} <= set(listed)
    assert "playground/cost" not in listed  # measured on the machine that runs it
    named = {name for chapter in make_plan(traced).chapters for step in chapter.steps for name in step.inputs}
    assert {f"recordings/x/trace/{name}" for name in named} <= set(listed)
    learned = {path for path in listed if "/parameters/" in path}
    norms = {
        f"recordings/x/trace/{name}" for name in traced.trace if "norm" in name and "parameters/" in name
    }
    assert learned == norms != set()  # what is large stays at home
    bare = list_paths(invent_decoder(), "x", hidden=False, vectors=False, exact=False)
    assert not any("walk" in path or "trace" in path for path in bare)
    with InProcessClient(traced) as client:  # what a notebook and a file are told is what the server says
        answers = [
            client.get(path.replace("recordings/x", f"recordings/{client.id}"))
            for path in listed
            if "/trace/" in path or path.endswith("/walk")
        ]
    assert all(answer.is_success for answer in answers)


def test_so_many_numbers_and_no_more(traced: Recording) -> None:
    few = list_arrays(traced, 100)
    assert sum(np.prod(Arrays(traced).shape(name) or 0) for name in few) <= 100
    assert few[0] == "encoder/ids"
