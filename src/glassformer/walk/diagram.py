"""The diagram of the true architecture, from the plan.

In:   chapters and stacks.
Out:  blocks from below to above, and arrows: the stream, the residual connections, the encoder's memory; in a
      recurrent network also the state that a cell leaves for the next word.
"""

from collections.abc import Sequence

from glassformer.walk.types import Block, BlockArrow, Chapter, Diagram, StackDescription, Step

_KINDS = {"self": "attention", "final": "norm"}  # of blocks that are not named as their chapters


class _Draft:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.arrows: list[BlockArrow] = []
        self.last: dict[str, str] = {}  # by stack, the block that the stream comes from

    def put(self, chapter: Chapter, step: Step, kind: str, name: str, *, causal: bool = False) -> str:
        """A block above the last one of its stack, joined to it by the stream."""
        stack = chapter.stack or ""
        where = {"stack": chapter.stack, "layer": chapter.layer, "chapter": chapter.id, "step": step.id}
        block = Block.model_validate({"id": f"{chapter.id}.{name}", "kind": kind, "causal": causal, **where})
        self.blocks.append(block)
        if stack in self.last:
            self.join(self.last[stack], block.id, "stream")
        self.last[stack] = block.id
        return block.id

    def join(self, start: str, end: str, kind: str) -> None:
        self.arrows.append(BlockArrow.model_validate({"start": start, "end": end, "kind": kind}))


def draw(chapters: Sequence[Chapter], stacks: Sequence[StackDescription]) -> Diagram:
    """Blocks and arrows of a plan."""
    if any(chapter.kind == "cells" for chapter in chapters):
        return _draw_cells(chapters)
    causal = {each.stack: each.causal for each in stacks}
    draft = _Draft()
    for chapter in chapters:
        steps = {step.id.removeprefix(f"{chapter.id}."): step for step in chapter.steps}
        first = chapter.steps[0]
        if chapter.stack is not None and chapter.stack not in draft.last:
            draft.put(chapter, first, "tokens", "text")
        below = draft.last.get(chapter.stack or "")
        if "normed" in steps:
            draft.put(chapter, steps["normed"], "norm", "norm")
        inner = next((step for name, step in steps.items() if name != "normed"), first)
        masked = chapter.kind == "self" and causal.get(chapter.stack or "", False)
        block = draft.put(chapter, inner, _KINDS.get(chapter.kind, chapter.kind), "block", causal=masked)
        if chapter.kind == "cross" and "encoder" in draft.last:
            draft.join(draft.last["encoder"], block, "memory")
        if "sum" in steps and chapter.kind != "embedding":
            added = draft.put(chapter, steps["sum"], "add", "add")
            if below is not None:
                draft.join(below, added, "residual")
        if "norm" in steps and chapter.kind not in ("embedding", "final"):
            draft.put(chapter, steps["norm"], "norm", "norm")
    return Diagram(blocks=tuple(draft.blocks), arrows=tuple(draft.arrows))


def _draw_cells(chapters: Sequence[Chapter]) -> Diagram:
    """A recurrent network: an arrow to each block from every block that it reads."""
    draft = _Draft()
    made = {step.output: chapter for chapter in chapters for step in chapter.steps}
    for chapter in chapters:
        if chapter.kind == "embedding":
            draft.put(chapter, chapter.steps[0], "tokens", "text")
        else:
            draft.last.pop(chapter.stack or "", None)  # the block below may be one that it does not read
        block = draft.put(chapter, chapter.steps[0], chapter.kind, "block")
        reads = [(made[name], step) for step in chapter.steps for name in step.inputs if name in made]
        found = {(start.id, _name_arrow(start, chapter, step)) for start, step in reads}
        for start, kind in sorted(found):
            if start != chapter.id or kind == "state":
                draft.join(f"{start}.block", block, kind)
    return Diagram(blocks=tuple(draft.blocks), arrows=tuple(draft.arrows))


def _name_arrow(start: Chapter, end: Chapter, step: Step) -> str:
    if start.stack != end.stack:
        return "memory"
    return "state" if step.operation == "before" else "stream"
