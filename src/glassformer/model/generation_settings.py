"""How to generate: the settings that a person chooses, under our names or those of transformers.

In:   `GenerationSettings(beams=4)`; a mapping with our names or theirs; a `transformers.GenerationConfig`.
Out:  frozen settings that are possible, or an error that names the setting.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from glassformer.errors import ConfigurationError
from glassformer.settings import Count, CountOrZero, Limits, Positive, Settings, UpToOne, read_settings

# The names that transformers has for our settings, where both mean the same.
TRANSFORMERS_NAMES = {
    "max_new_tokens": "max_new_tokens",
    "min_new_tokens": "min_new_tokens",
    "num_beams": "beams",
    "length_penalty": "length_penalty",
    "do_sample": "sample",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "repetition_penalty": "repetition_penalty",
    "no_repeat_ngram_size": "no_repeat_ngram",
}
_ALSO_READ = {
    "early_stopping": "early_stopping",
    "ctc": "ctc",
    "num_return_sequences": "n_best",
    "suppress_tokens": "forbidden",
    "use_cache": "cache",
}
# Settings of a GenerationConfig that change no token here: special tokens belong to the network, and the
# shape of the answer is ours.
_WITHOUT_EFFECT = (
    "_from_model_config", "bos_token_id", "decoder_start_token_id", "eos_token_id", "output_attentions",
    "output_hidden_states", "output_logits", "output_scores", "pad_token_id", "renormalize_logits",
    "return_dict_in_generate", "transformers_version",
)  # fmt: skip
_TRANSFORMERS_TOP_K = 50  # what transformers samples from where no top_k is given


@dataclass(frozen=True, slots=True)
class GenerationSettings(Settings):
    """How to go from a prompt to an answer. The defaults are greedy: always the likeliest token.

    >>> gf.GenerationSettings(beams=4, max_new_tokens=50).beams
    4
    >>> gf.GenerationSettings.from_mapping({"num_beams": 4}).beams  # names of transformers
    4
    >>> gf.GenerationSettings.from_transformers(transformers.GenerationConfig(num_beams=4)).beams
    4
    """

    max_new_tokens: Count = 128  # stop here; a network with a limit of positions may stop earlier
    min_new_tokens: CountOrZero = 0  # no end token before this many
    beams: Count = 1  # hypotheses followed side by side; 1: no beam search
    # a hypothesis scores Σ log p / length ** penalty; above 1 favours long ones
    length_penalty: Annotated[float, Limits(least=-10, most=10)] = 1.0
    n_best: Count = 1  # how many finished hypotheses of a beam search are returned
    early_stopping: bool = False  # stop at `beams` finished hypotheses, even if a better one may follow
    sample: bool = False  # draw the token instead of taking the likeliest
    temperature: Positive = 1.0  # below 1 sharpens the distribution that is drawn from, above 1 flattens it
    top_k: Count | None = None  # draw from the k likeliest only
    # draw from the fewest tokens that together have this probability
    top_p: Annotated[float, Limits(above=0, most=1)] = 1.0
    seed: int | None = None  # the same seed draws the same tokens; None: different ones every time
    repetition_penalty: Positive = 1.0  # above 1 makes tokens that already occurred less likely
    no_repeat_ngram: CountOrZero = 0  # no n tokens in a row may occur twice; 0: they may
    forbidden: tuple[CountOrZero, ...] = ()  # tokens that are never chosen, such as Marian's padding
    ctc: UpToOne = 0.0  # weight of what the encoder tells by CTC; the rest is the decoder's
    force_end: bool = False  # an answer that has reached its length gets the end token as its last one
    alternatives: CountOrZero = 0  # how many of the likeliest tokens are kept for each step
    cache: bool = True  # keep keys and values; False computes everything again at every step

    def check(self) -> None:
        least, most = self.min_new_tokens, self.max_new_tokens
        if least > most:
            raise ConfigurationError("model.generation.min_above_max", least=least, most=most)
        if self.n_best > self.beams:
            raise ConfigurationError("model.generation.n_best", n_best=self.n_best, beams=self.beams)
        if self.sample and self.beams > 1:
            raise ConfigurationError("model.generation.sampled_beams", beams=self.beams)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Settings by name, ours or those of transformers (`num_beams`, `do_sample`, `use_cache` …)."""
        return read_settings(cls, _rename(values))

    @classmethod
    def from_transformers(
        cls, config: object, *, encoder_decoder: bool = False, end_id: int | None = None
    ) -> Self:
        """What a `transformers.GenerationConfig` asks for; a setting that we do not have is an error.

        `encoder_decoder` and `end_id` are those of the network: the first says what `max_length` counts, the
        second which token `forced_eos_token_id` has to name.
        """
        values = config if isinstance(config, Mapping) else _differences(config)
        values = {name: value for name, value in values.items() if value is not None}
        known = {*TRANSFORMERS_NAMES, *_ALSO_READ, *_WITHOUT_EFFECT, "bad_words_ids", "forced_eos_token_id"}
        if encoder_decoder or "max_new_tokens" in values:
            known.add("max_length")
        for name in values:
            if name == "max_length" and name not in known:
                raise ConfigurationError("model.generation.max_length", value=values[name])
            if name not in known:
                raise ConfigurationError("model.generation.unsupported", name=name, value=repr(values[name]))
        if any(len(word) > 1 for word in values.get("bad_words_ids", ())):
            raise ConfigurationError("model.generation.phrases", value=repr(values["bad_words_ids"]))
        ours = convert_transformers(values, encoder_decoder=encoder_decoder, end_id=end_id)
        ours |= {
            _ALSO_READ[name]: values[name] for name in ("num_return_sequences", "use_cache") if name in values
        }
        ours["forbidden"] += tuple(values.get("suppress_tokens") or ())
        return read_settings(cls, ours)


def convert_transformers(
    values: Mapping[str, Any], *, encoder_decoder: bool, end_id: int | None
) -> dict[str, Any]:
    """The settings of a generation_config.json by our names; of `bad_words_ids` single tokens only."""
    given = {name: value for name, value in values.items() if value is not None}
    ours = _rename({name: value for name, value in given.items() if name in TRANSFORMERS_NAMES})
    length = values.get("max_length")
    if encoder_decoder and isinstance(length, int) and length > 1 and "max_new_tokens" not in ours:
        ours["max_new_tokens"] = length - 1  # theirs counts the start token too
    if ours.get("sample"):
        ours.setdefault("top_k", _TRANSFORMERS_TOP_K)
    ours["early_stopping"] = values.get("early_stopping") is True
    forced = values.get("forced_eos_token_id")
    ours["force_end"] = forced is not None and end_id in (forced if isinstance(forced, list) else [forced])
    ours["ctc"] = values.get("ctc") or 0.0
    words = values.get("bad_words_ids") or ()
    ours["forbidden"] = tuple(word[0] for word in words if isinstance(word, list) and len(word) == 1)
    return ours


def _rename(values: Mapping[str, Any]) -> dict[str, Any]:
    """Our name for each setting; one that is given under both names is an error."""
    names = TRANSFORMERS_NAMES | _ALSO_READ
    ours: dict[str, Any] = {}
    for name, value in values.items():
        own = names.get(name, name)
        if own in ours:
            other = next(theirs for theirs in values if names.get(theirs, theirs) == own and theirs != name)
            raise ConfigurationError("model.generation.given_twice", name=other, other=name)
        ours[own] = value
    if ours.get("top_k") == 0:  # transformers' way to say all of them
        ours["top_k"] = None
    if isinstance(ours.get("forbidden"), list):
        ours["forbidden"] = tuple(ours["forbidden"])
    return ours


def _differences(config: Any) -> dict[str, Any]:
    if not hasattr(config, "to_diff_dict"):
        raise ConfigurationError("model.generation.not_settings", kind=type(config).__name__)
    return dict(config.to_diff_dict())
