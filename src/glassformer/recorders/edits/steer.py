"""Steer: add a vector to the residual stream before a layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.recorders.edits.edit import Count, Edit, Part, Queries, States, check_numbers, check_place
from glassformer.recorders.edits.patch import describe_positions, read_positions

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Steer(Edit):
    """A vector (width,) added to what goes into a layer, at some tokens (None: at all, also those generated).

    A direction is often the difference of two hidden states:

    >>> texts = ("I am happy", "I am sad")
    >>> happy, sad = (gf.record("zoo/gpt2", text, want="hidden").hidden["decoder"] for text in texts)
    >>> edit = gf.Steer("decoder", 3, 4 * (happy[3, -1] - sad[3, -1]))
    """

    part: ClassVar[Part] = "residual"

    stack: str
    layer: Count
    vector: Any  # (width,): an array or a tensor
    positions: Sequence[int] | None = None

    def __post_init__(self) -> None:
        check_place(self)
        check_numbers(self, "layer", optional=False)
        object.__setattr__(self, "positions", read_positions(self.positions))

    @property
    def needs(self) -> Queries:
        return "each" if self.positions is None else "numbered"

    def change_states(self, states: States) -> None:
        states.add(self._tensor(), self.positions)

    def _tensor(self) -> "Tensor":
        import torch

        return torch.as_tensor(self.vector)

    def as_message(self) -> Message:
        return message(
            "recorders.edits.steered",
            length=float(self._tensor().double().norm()),
            stack=name_term(self.stack),
            layer=self.layer,
            positions=describe_positions(self.positions),
        )
