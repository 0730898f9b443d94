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
    """A recurrent network: word and context enter the cells, and each cell hands its state to the next word."""
    draft = _Draft()
    below: dict[str, list[str]] = {}  # by stack, the blocks that the next cells read
    cells: dict[tuple[str, int], list[str]] = {}  # by stack and layer
    context = ""
    for chapter in chapters:
        stack, layer = chapter.stack or "", chapter.layer or 0
        first = chapter.steps[0]
        if chapter.kind == "embedding":
            draft.put(chapter, first, "tokens", "text")
            below[stack] = [draft.put(chapter, first, "embedding", "block")]
            continue
        draft.last.pop(stack, None)  # arrows follow what is read, not the order of the blocks
        block = draft.put(chapter, first, chapter.kind, "block")
        match chapter.kind:
            case "cells":
                read = cells.get((stack, layer - 1), below[stack] + [context] * (stack == "decoder"))
                for each in read:
                    draft.join(each, block, "stream")
                draft.join(block, block, "state")
                if stack == "decoder":
                    draft.join(f"encoder.{layer}.bridge.block", block, "memory")
                cells.setdefault((stack, layer), []).append(block)
            case "bridge":
                for each in cells["encoder", layer]:
                    draft.join(each, block, "stream")
            case "cross":
                context = block
                for each in cells["encoder", max(layer for _, layer in cells)]:
                    draft.join(each, block, "memory")
            case "context":
                context = block
                draft.join(f"encoder.{max(layer for _, layer in cells)}.bridge.block", block, "memory")
            case _:  # the output reads the state, the context and the word
                top = cells["decoder", max(layer for _, layer in cells)]
                for each in [*top, context, *below["decoder"]]:
                    draft.join(each, block, "stream")
                if context.endswith("cross.block"):
                    draft.join(top[0], context, "state")
    return Diagram(blocks=tuple(draft.blocks), arrows=tuple(draft.arrows))
