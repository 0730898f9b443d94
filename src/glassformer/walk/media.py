"""The first steps of a network that looks or listens: from a picture or a sound to vectors.

In:   the settings of a ModelConfig, and a builder whose chapter is open.
Out:  steps up to the vectors that positions are added to.
"""

from typing import NamedTuple

from glassformer.walk.builder import PlanBuilder
from glassformer.walk.given import Architecture
from glassformer.walk.types import Axis, StepParameters


class Perception(NamedTuple):
    """What a network reads instead of words."""

    architecture: Architecture

    @property
    def grid(self) -> dict[str, float]:
        """How many patches a side of the picture has, and how many tokens stand before them."""
        count = int(self.architecture["picture_size"] or 0) // int(self.architecture["patch_size"] or 1)
        return {"grid": float(count), "first": float(bool(self.architecture["class_token"]))}

    def write(self, builder: PlanBuilder) -> str:
        """Add the steps; gives the name of the vectors, one for each token."""
        looks = self.architecture["reads"] == "picture"
        return self._write_patches(builder) if looks else self._write_frames(builder)

    def _write_patches(self, builder: PlanBuilder) -> str:
        classed = bool(self.architecture["class_token"])
        axes: tuple[Axis, ...] = ("source", "feature")
        rows: Axis = "patch" if classed else "source"
        numbers = {"size": float(self.architecture["patch_size"] or 1), **self.grid}
        numbers["channels"] = 3.0 if self.architecture["color"] else 1.0
        scaled = StepParameters(mean="encoder/pixel_mean", vector="encoder/pixel_deviation")
        patches = builder.write("patches", "cut", ["encoder/pixels"], (rows, "pixel"), scaled, numbers)
        learnt = _name_parameters("projection")
        if not classed:
            return builder.write("tokens", "product", [patches], axes, learnt)
        vectors = builder.write("projected", "product", [patches], (rows, "feature"), learnt)
        first = StepParameters(weight="parameters/perception.class_vector")
        return builder.write("tokens", "prepend", [vectors], axes, first)

    def _write_frames(self, builder: PlanBuilder) -> str:
        architecture, write = self.architecture, builder.write
        sampled = {"rate": float(architecture["sample_rate"] or 1), "hop": float(architecture["hop"] or 1)}
        bands: tuple[Axis, ...] = ("column", "band")
        if architecture.get("spectrogram", "absolute") == "absolute":
            power = write("power", "fourier", ["encoder/samples"], ("column", "frequency"), numbers=sampled)
            stream = write("spectrogram", "mel", [power], bands, numbers=sampled)
        else:
            stream = write("spectrogram", "states", ["encoder/samples"], bands)
        stride = int(architecture["frame_stride"] or 1)
        last = min(2, stride)
        between: tuple[Axis, ...] = ("column", "feature")
        tokens: tuple[Axis, ...] = ("source", "feature")
        for name, made, by, axes in (
            ("first", "first_active", stride // last, between),
            ("second", "tokens", last, tokens),
        ):
            learnt = _name_parameters(name)
            stream = write(name, "convolve", [stream], axes, learnt, {"stride": float(by)})
            stream = write(made, "activate", [stream], axes, words={"function": "gelu"})
        return stream


def _name_parameters(module: str) -> StepParameters:
    place = f"parameters/perception.{module}"
    return StepParameters(weight=f"{place}.weight", bias=f"{place}.bias", transposed=True)
