"""Running a topic leaves torch as it was."""

import pytest
import torch

from glassformer.lessons.run import Inputs, Result, run_topic
from glassformer.lessons.topics import find_topic, read_parameters
from glassformer.messages import literal


@pytest.mark.parametrize(("name", "given"), [("order", {}), ("output", {"steps": "1"})])
def test_a_topic_leaves_the_random_state_as_it_was(name: str, given: dict[str, str]) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    run_topic(name, read_parameters(find_topic(name), given))
    assert torch.equal(torch.rand(3), expected)


def test_a_topic_runs_on_one_thread_and_gives_the_others_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    before = torch.get_num_threads()

    def look(inputs: Inputs) -> Result:
        seen.append(torch.get_num_threads())
        return Result(literal("One."), ())

    monkeypatch.setattr("glassformer.lessons.topics.masks.compute", look)
    torch.set_num_threads(2)
    try:
        run_topic("masks", {})
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_values_that_a_topic_corrected_are_those_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def correct(inputs: Inputs) -> Result:
        inputs.report({"step": 1})
        return Result(literal("Corrected."), (), "zoo/x", used={"seed": 3})

    monkeypatch.setattr("glassformer.lessons.topics.masks.compute", correct)
    steps: list[object] = []
    result = run_topic("masks", {"seed": 9, "mask": "both"}, report=steps.append)
    assert (result.parameters, result.model, steps) == ({"seed": 3, "mask": "both"}, "zoo/x", [{"step": 1}])
