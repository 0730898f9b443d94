"""The diagram has the blocks and arrows of the network that ran."""

from glassformer.recording import Recording
from glassformer.walk import make_plan


def test_the_diagram_of_both_stacks(traced: Recording) -> None:
    diagram = make_plan(traced).diagram
    kinds = [block.kind for block in diagram.blocks if block.stack == "decoder" and block.layer == 0]
    assert kinds == ["attention", "add", "norm", "cross", "add", "norm", "feed_forward", "add", "norm"]
    memory = [(arrow.start, arrow.end) for arrow in diagram.arrows if arrow.kind == "memory"]
    assert memory == [("encoder.1.feed_forward.norm", f"decoder.{layer}.cross.block") for layer in range(2)]
    residual = {(arrow.start, arrow.end) for arrow in diagram.arrows if arrow.kind == "residual"}
    assert ("decoder.0.self.norm", "decoder.0.cross.add") in residual
    assert ("decoder.embedding.block", "decoder.0.self.add") in residual
