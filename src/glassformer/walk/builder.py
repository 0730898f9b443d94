"""Builds the chapters of a plan: steps with their shapes, and why a step is missing.

In:   arrays of a recording.
Out:  chapters, one after the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from glassformer.messages import Message
from glassformer.walk.arrays import Arrays
from glassformer.walk.derived import Derivation
from glassformer.walk.types import Axis, Chapter, Operation, Part, Step, StepParameters, StepShape

NOTHING = StepParameters()


@dataclass(slots=True)
class PlanBuilder:
    """Writes steps into chapters."""

    arrays: Arrays
    missing: Message  # of steps that were not kept
    unobserved: Message  # of steps that no recording of this kind keeps
    chapters: list[Chapter] = field(default_factory=list)
    place: str = ""  # of the chapter that is open: encoder/0/self

    def open(self, place: str, kind: Part, stack: str | None = None, layer: int | None = None) -> None:
        """Begin a chapter; its arrays are named place/step."""
        self.place = place
        id = place.replace("/", ".")
        self.chapters.append(Chapter(id=id, kind=kind, stack=stack, layer=layer, steps=()))

    def write(  # noqa: PLR0913 (all that makes up a step)
        self,
        name: str,
        operation: Operation,
        inputs: Sequence[str],
        axes: Sequence[Axis],
        parameters: StepParameters = NOTHING,
        numbers: Mapping[str, float] | None = None,
        words: Mapping[str, str] | None = None,
        output: str | None = None,
        missing: Message | None = None,
    ) -> str:
        """Add a step to the chapter that is open; gives the name of what comes out.

        `missing` is of a step that certainly happens, and that no recording of this kind shows.
        """
        chapter, arrays, output = self.chapters[-1], self.arrays, output or f"{self.place}/{name}"
        numbers, words = dict(numbers or {}), dict(words or {})
        made = arrays.shape(output)
        if made is None and parameters is NOTHING:
            made = arrays.register(output, Derivation(operation, tuple(inputs), numbers, words))
        if arrays.is_computed(output):
            words["origin"] = "computed"  # not by the network: it follows from what was kept
        shape = StepShape(inputs=tuple(arrays.shape(each) for each in inputs), output=made)
        fits = shape.output is not None and len(shape.output) == len(axes)
        reads = len(inputs) > 0 or operation in ("lookup", "waves", "fall")  # those count positions
        known = fits and reads and None not in shape.inputs and operation != "states"
        trace = arrays.recording.trace
        step = Step(
            id=f"{chapter.id}.{name}",
            chapter=chapter.id,
            stack=chapter.stack,
            layer=chapter.layer,
            kind=chapter.kind,
            operation=operation,
            inputs=tuple(inputs),
            output=output,
            axes=tuple(axes),
            parameters=parameters,
            numbers=numbers,
            words=words,
            shape=shape,
            arithmetic=known and all(each in trace for each in parameters.names()),
            missing=missing or (None if fits else self.missing),
        )
        self.chapters[-1] = chapter.model_copy(update={"steps": (*chapter.steps, step)})
        return output

    def close(self) -> tuple[Chapter, ...]:
        """All chapters that have steps."""
        return tuple(each for each in self.chapters if each.steps)
