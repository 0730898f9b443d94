"""What the notes of the examples say: heads, words and numbers, measured on the example's own recording.

In:   the recording of a preset (and of others that its note compares it with).
Out:  Finding: the parameters of the note, and where the page opens it. `Untrue` where the recording does not
      show what the words around the numbers say.

A head is never chosen by hand: it is the one of all heads that shows most of what the note is about. The
search favours the winner, so a note says of how many heads, and what chance would give.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Kind, Place
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.recording.axes import find_starts, is_causal, name_rows

Pair = tuple[str, str]  # a word that looks, and the word that it looks at


class Untrue(Exception):  # noqa: N818 - it is a finding, not a mistake of the program
    """The recording does not show what a note says; the text says what it shows."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a note says, and where it can be seen: parameters of its text; places by their titles."""

    parameters: Mapping[str, Any]
    selection: Mapping[str, str] = field(default_factory=dict)
    also: tuple[tuple[Message, Mapping[str, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A head and how much its rows look at what they should, one share for each pair."""

    recording: Recording
    map: AttentionMap
    head: int
    pairs: tuple[Pair, ...]
    shares: tuple[float, ...]
    heads: int  # that were searched

    @property
    def named(self) -> dict[str, Any]:
        """Parameters that name the head."""
        return {"place": self.map.place, "head": self.head, "heads": self.heads}

    @property
    def percents(self) -> tuple[int, ...]:
        return tuple(map(percent, self.shares))

    def select(self, view: str, *, key: bool = True) -> dict[str, str]:
        """Where the page opens: this head, at its first pair."""
        start = find_starts(self.recording, self.map)
        row, column = find_rows(self.recording, self.map, self.pairs[0][0]), self.pairs[0][1]
        chosen = {"view": view, "place": self.map.place.address, "head": str(self.head)}
        chosen["query"] = str(start[0] + row[0])
        return chosen | ({"key": str(start[1] + find_word(self.map.key, column)[0])} if key else {})

    def require_most(self) -> None:
        """Every row must look at its word more than at any other token."""
        for row, column in self.pairs:
            rows = self.map.weights(self.head)[find_rows(self.recording, self.map, row)].mean(axis=0)
            if int(rows.argmax()) not in find_word(self.map.key, column):
                seen = self.map.key.texts[int(rows.argmax())]
                raise Untrue(
                    f"{row!r} should look most at {column!r} in {self.map.place}, head {self.head}, best of "
                    f"{self.heads}; it looks at {seen!r} ({percent(float(rows.max()))} %). {self}"
                )

    def __str__(self) -> str:
        shares = ", ".join(
            f"{a} → {b} {share} %" for (a, b), share in zip(self.pairs, self.percents, strict=True)
        )
        return f"{self.map.place}, head {self.head}: {shares}"


# Finding words and heads


def percent(share: float) -> int:
    """A share as a whole number of percent."""
    return round(100 * float(share))


def find_word(tokens: Tokens, word: str) -> list[int]:
    """The tokens of a word where it stands last: by its characters, or by its text where it is special."""
    special = [place for place, text in enumerate(tokens.texts) if text == word and tokens.special[place]]
    if special:
        return special[-1:]
    if tokens.text is None or tokens.offsets is None:
        raise InputError("metrics.no_offsets", side=tokens.side)
    whole = rf"(?<!\w){re.escape(word)}(?!\w)" if word.isascii() else re.escape(word)
    found = [match.span() for match in re.finditer(whole, tokens.text)]
    if not found:
        raise Untrue(f"{word!r} should be in {tokens.text!r}.")
    first, last = found[-1]
    spans = tokens.offsets.tolist()
    return [
        place for place, (start, stop) in enumerate(spans) if start < last and stop > first and start < stop
    ]


def find_rows(recording: Recording, attention_map: AttentionMap, word: str) -> list[int]:
    """The rows of a word: where it is written in cross-attention, where it enters otherwise."""
    return find_word(name_rows(recording, attention_map), word)


def find_head(recording: Recording, stack: str, kind: Kind, *pairs: Pair) -> Seen:
    """The head in which the weakest of the pairs is strongest; in self-attention, beyond what others give."""
    maps = [each for each in recording.maps if (each.stack, each.kind, each.step) == (stack, kind, None)]
    count = sum(each.heads for each in maps)
    found: list[tuple[float, Seen]] = []
    for each in maps:
        shares = np.stack([_share(recording, each, *pair) for pair in pairs])  # (pair, head)
        usual = np.stack([_others(recording, each, *pair) for pair in pairs]) if kind == "self" else 0
        clear = (shares - usual).min(axis=0)  # (head,)
        head = int(clear.argmax())
        seen = Seen(recording, each, head, pairs, tuple(shares[:, head].tolist()), count)
        found.append((float(clear[head]), seen))
    if not found:
        raise Untrue(f"There is no {kind}-attention of the {stack}.")
    return max(found, key=lambda each: each[0])[1]


def share_of(recording: Recording, place: Place, head: int, pair: Pair) -> float:
    """How much one head looks from a word at another."""
    return float(_share(recording, recording.map(place), *pair)[head])


def _share(recording: Recording, attention_map: AttentionMap, row: str, column: str) -> NDArray[np.float32]:
    """(head,) the weight of a word's tokens, in the mean over the rows of another."""
    rows, columns = find_rows(recording, attention_map, row), find_word(attention_map.key, column)
    return attention_map.weights()[:, rows][:, :, columns].sum(axis=2).mean(axis=1)


def median_of(recording: Recording, stack: str, pair: Pair) -> int:
    """Percent that the middle one of all heads gives, in self-attention."""
    maps = [each for each in recording.maps if (each.stack, each.kind) == (stack, "self")]
    return percent(np.median(np.concatenate([_share(recording, each, *pair) for each in maps])))


def others_of(seen: Seen) -> int:
    """Percent that the other rows give to the word of the first pair, on average."""
    return percent(_others(seen.recording, seen.map, *seen.pairs[0])[seen.head])


def _others(recording: Recording, attention_map: AttentionMap, row: str, column: str) -> NDArray[np.float32]:
    """(head,) what other rows give to a word, on average: those that may look at it, itself left out."""
    columns = find_word(attention_map.key, column)
    rows = np.ones(len(attention_map.query), dtype=bool)
    rows[[*find_rows(recording, attention_map, row), *columns]] = False
    if is_causal(attention_map):
        rows[: columns[-1]] = False
    if not rows.any():
        return np.zeros(attention_map.heads, dtype=np.float32)
    return attention_map.weights()[:, rows][:, :, columns].sum(axis=2).mean(axis=1)


def chance_of(attention_map: AttentionMap, word: str | None = None) -> int:
    """Percent for one token, or for those of a word, if all were alike."""
    return percent((1 if word is None else len(find_word(attention_map.key, word))) / len(attention_map.key))


def _written(recording: Recording) -> str:
    if recording.target is None or recording.target.text is None:
        raise Untrue("Nothing was written.")
    return recording.target.text


# The notes

Recordings = Callable[[str], Recording]  # of a preset, by its id


def red_car(recording: Recording, _: Recordings) -> Finding:
    """Two nouns and their colours, which French puts behind them."""
    pairs = (("voiture", "car"), ("rouge", "red"), ("maison", "house"), ("blanche", "white"))
    seen = find_head(recording, "decoder", "cross", *pairs)
    seen.require_most()
    shares = dict(zip(("car", "red", "house", "white"), seen.percents, strict=True))
    return Finding({**seen.named, **shares}, seen.select("canvas", key=False))


def animal_street(recording: Recording, _: Recordings) -> Finding:
    """Two heads: what “it” refers to, and what is said of it."""
    animal = find_head(recording, "encoder", "self", ("it", "animal"))
    tired = find_head(recording, "encoder", "self", ("it", "tired"))
    chance = chance_of(animal.map)
    if min(*animal.percents, *tired.percents) <= chance:
        raise Untrue(f"Both heads should look more than by chance ({chance} %). {animal}; {tired}")
    found = {
        "heads": animal.heads,
        "place": animal.map.place,
        "head": animal.head,
        "animal": animal.percents[0],
        "others": others_of(animal),
        "median": median_of(recording, "encoder", ("it", "animal")),
        "place_tired": tired.map.place,
        "head_tired": tired.head,
        "tired": tired.percents[0],
        "others_tired": others_of(tired),
        "median_tired": median_of(recording, "encoder", ("it", "tired")),
        "chance": chance,
        "tokens": len(animal.map.key),
    }
    places = tuple(
        (message("workbench.preset.looks", row="it", key=word), seen.select("lines"))
        for word, seen in (("animal", animal), ("tired", tired))
    )
    return Finding(found, animal.select("lines"), places)


def animal_wide(recording: Recording, record: Recordings) -> Finding:
    """The same head, where one word has changed."""
    before = find_head(record("animal-street"), "encoder", "self", ("it", "animal"))
    place, head = before.map.place, before.head
    animal, street = (
        percent(share_of(recording, place, head, ("it", word))) for word in ("animal", "street")
    )
    end = "workbench.preset.head_turns" if street > animal else "workbench.preset.head_stays"
    found = {"tired": before.percents[0], "animal": animal, "street": street, "target": _written(recording)}
    now = Seen(recording, recording.map(place), head, (("it", "animal"),), (0.0,), before.heads)
    return Finding({"place": place, "head": head, **found, "end": message(end)}, now.select("lines"))


def making_difficult(recording: Recording, _: Recordings) -> Finding:
    """A phrase that is far apart."""
    seen = find_head(recording, "encoder", "self", ("making", "difficult"))
    between = find_word(seen.map.key, "difficult")[0] - find_word(seen.map.key, "making")[-1] - 1
    more = percent(share_of(recording, seen.map.place, seen.head, ("making", "more")))
    found = {"between": between, "share": seen.percents[0], "more": more, "others": others_of(seen)}
    return Finding(
        {**seen.named, **found, "chance": chance_of(seen.map), "target": _written(recording)},
        seen.select("lines"),
    )


def law_its(recording: Recording, _: Recordings) -> Finding:
    """A pronoun and its noun."""
    seen = find_head(recording, "decoder", "self", ("its", "Law"))
    seen.require_most()
    return Finding({**seen.named, "share": seen.percents[0], "others": others_of(seen)}, seen.select("lines"))


def i_love_you(recording: Recording, _: Recordings) -> Finding:
    """Three words, written one after the other."""
    seen = find_head(recording, "decoder", "cross", ("I", "我"), ("love", "爱"), ("you", "你"))
    seen.require_most()
    shares = dict(zip(("i", "love", "you"), seen.percents, strict=True))
    return Finding({**seen.named, **shares}, seen.select("generation", key=False))


def merci(recording: Recording, _: Recordings) -> Finding:
    """What a beam search begins with."""
    first = _alternatives(recording, 0)
    seen = find_head(recording, "decoder", "cross", (_written(recording).rstrip(".!").split()[0], "merci"))
    return Finding(
        {**_name_choices(first[:3]), "target": _written(recording)}, seen.select("generation", key=False)
    )


def etudiant(recording: Recording, _: Recordings) -> Finding:
    """Where the search hesitates most, and what an article looks at."""
    generation = recording.generation
    assert generation is not None
    gaps = [_alternatives(recording, step.index) for step in generation.steps]
    step = min(range(1, len(gaps)), key=lambda place: gaps[place][0][1] - gaps[place][1][1])
    before = "".join(each.text for each in generation.steps[:step]).strip()
    heads = [find_head(recording, "decoder", "cross", ("a", word)) for word in ("je", "suis", "étudiant")]
    seen = max(heads, key=lambda each: each.shares[0])
    found = {
        "step": step + 1,
        "before": before,
        "target": _written(recording),
        **_name_choices(gaps[step][:2]),
    }
    word = seen.pairs[0][1]
    return Finding(
        {**seen.named, **found, "word": word, "share": seen.percents[0]}, seen.select("generation", key=False)
    )


def tom_jerry(recording: Recording, _: Recordings) -> Finding:
    """A target that was given."""
    pairs = (("汤姆", "Tom"), ("追逐", "chase"), ("杰瑞", "Jerry"))
    seen = find_head(recording, "decoder", "cross", *pairs)
    shares = dict(zip(("tom", "chase", "jerry"), seen.percents, strict=True))
    return Finding({**seen.named, **shares, "chance": chance_of(seen.map)}, seen.select("lines"))


def fox(recording: Recording, _: Recordings) -> Finding:
    """Induction: from a token at what followed it the last time."""
    texts = recording.source.texts
    half = len(texts) // 2
    rows = np.arange(half + 1, 2 * half - 1)  # the sentence twice: what followed is half a text back
    keys = rows - half + 1
    scores = {
        (each.place, head): each.weights(head)[rows, keys]
        for each in recording.maps
        for head in range(each.heads)
    }
    (place, head), found = max(scores.items(), key=lambda item: float(item[1].mean()))
    if texts[:half] != tuple(text if at else text.strip() for at, text in enumerate(texts[half:])):
        raise Untrue(f"The second half should repeat the first: {texts}")
    best = int(found.argmax())
    query, key = int(rows[best]), int(keys[best])
    strong = sum(float(each.mean()) > 0.25 for each in scores.values())
    named = {
        "place": place,
        "head": head,
        "heads": len(scores),
        "strong": strong,
        "mean": percent(found.mean()),
    }
    words = {"from": texts[query].strip(), "to": texts[key].strip(), "share": percent(found[best])}
    chosen = {
        "view": "heatmap",
        "place": place.address,
        "head": str(head),
        "query": str(query),
        "key": str(key),
    }
    return Finding(named | words, chosen)


def film(recording: Recording, _: Recordings) -> Finding:
    """A class, and the words it comes from."""
    output = recording.output
    assert output is not None
    name, share = output.texts(0)[0], percent(output.probabilities[0, 0])
    if name != "positive":
        raise Untrue(f"The film should be found good; it is {name} ({share} %).")
    rare = find_head(recording, "encoder", "self", ("[CLS]", "rare beauty"))
    last = max((each.layer for each in recording.maps), default=0)
    most = max(float(recording.map("encoder", layer=last).weights()[:, 0].max()), 0.0)
    found = {
        "share": share,
        "words": rare.percents[0],
        "chance": chance_of(rare.map, "rare beauty"),
        "most": percent(most),
    }
    return Finding({**rare.named, **found}, rare.select("text", key=False))


def animal_mask(recording: Recording, _: Recordings) -> Finding:
    """A hidden word, its guesses and neighbours."""
    output = recording.output
    assert output is not None
    place = find_word(recording.source, "[MASK]")[0]
    guesses = zip(output.texts(place)[:3], output.probabilities[place, :3], strict=True)
    seen = find_head(recording, "encoder", "self", ("[MASK]", "animal"))
    near = find_head(recording, "encoder", "self", ("[MASK]", "it was too"))
    found = {"animal": seen.percents[0], "chance": chance_of(seen.map), "near": near.percents[0]}
    other = {"place_near": near.map.place, "head_near": near.head}
    choices = _name_choices([(text, float(share)) for text, share in guesses])
    return Finding({**seen.named, **found, **other, **choices}, seen.select("text", key=False))


def steps(recording: Recording, _: Recordings) -> Finding:
    """One character four times: how far apart, and what each looks at."""
    tokens = recording.source
    assert tokens.text is not None
    assert tokens.offsets is not None
    begins = [match.start() for match in re.finditer("步", tokens.text)]
    places = [int(np.flatnonzero(tokens.offsets[:, 1] > begin)[0]) for begin in begins]
    if len(set(places)) != 4:
        raise Untrue(f"步 should be a token of its own, four times: {tokens.texts}")
    cosines = []
    for layer in (0, -1):
        states = recording.hidden["encoder"][layer, places].astype(float)
        states /= np.linalg.norm(states, axis=1, keepdims=True)
        cosines.append((states @ states.T)[0, 1:])
    if cosines[1].mean() >= cosines[0].mean():
        raise Untrue(f"The layers should move the four apart: {cosines[0]} become {cosines[1]}.")
    maps = [each for each in recording.maps if each.stack == "encoder"]
    rows = np.array(places)
    scores = {
        (each.place, head): each.weights(head)[rows, rows - 1].mean()
        for each in maps
        for head in range(each.heads)
    }
    (place, head), share = max(scores.items(), key=lambda item: float(item[1]))
    chosen = {"view": "embeddings", "place": place.address, "head": str(head), "query": str(places[0])}
    bounds = {
        f"{end}_{name}": round(float(getattr(each, end)()), 2)
        for name, each in zip(("first", "last"), cosines, strict=True)
        for end in ("min", "max")
    }
    named = {"place": place, "head": head, "heads": len(scores), "share": percent(float(share))}
    return Finding(named | bounds | {"layers": len(recording.hidden["encoder"]) - 1}, chosen)


def duan_yu(recording: Recording, _: Recordings) -> Finding:
    """A table of keys and values, read by a colon."""
    tokens = recording.source
    assert tokens.text is not None
    assert tokens.offsets is not None

    def weigh(weights: NDArray[np.float32], value: str) -> float:
        """On the first token of a value: what a colon should look at."""
        assert tokens.text is not None
        assert tokens.offsets is not None
        return float(weights[tokens.offsets[:, 0] == tokens.text.index(value)].sum())

    rows = {
        (each.place, head): each.weights(head)[-1] for each in recording.maps for head in range(each.heads)
    }
    (place, head), row = max(rows.items(), key=lambda item: weigh(item[1], "段延庆"))
    right, wrong = weigh(row, "段延庆"), weigh(row, "六脉神剑")
    chosen = {"view": "text", "place": place.address, "head": str(head), "query": str(len(tokens) - 1)}
    return Finding(
        {"place": place, "head": head, "heads": len(rows), "right": percent(right), "wrong": percent(wrong)},
        chosen,
    )


def recurrent(recording: Recording, _: Recordings) -> Finding:
    """The one map of a recurrent network."""
    seen = find_head(recording, "decoder", "cross", ("voiture", "car"), ("rouge", "red"))
    seen.require_most()
    found = dict(zip(("car", "red"), seen.percents, strict=True)) | {"target": _written(recording)}
    return Finding(found, seen.select("heatmap", key=False))


def _alternatives(recording: Recording, step: int) -> list[tuple[str, float]]:
    """The likeliest tokens of a step."""
    assert recording.generation is not None
    choices = recording.generation.steps[step].alternatives
    found = [(each.text, float(np.exp(each.log_probability))) for each in choices]
    return sorted(found, key=lambda each: -each[1])


def _name_choices(choices: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """first, first_share, second …"""
    found: dict[str, Any] = {}
    for name, (text, share) in zip(("first", "second", "third"), choices, strict=False):
        found |= {name: text.strip(), f"{name}_share": percent(share)}
    return found


NOTES: dict[str, Callable[[Recording, Recordings], Finding]] = {
    "red-car": red_car,
    "animal-street": animal_street,
    "animal-wide": animal_wide,
    "making-difficult": making_difficult,
    "law-its": law_its,
    "i-love-you": i_love_you,
    "merci": merci,
    "etudiant": etudiant,
    "tom-jerry": tom_jerry,
    "fox": fox,
    "film": film,
    "animal-mask": animal_mask,
    "steps": steps,
    "duan-yu": duan_yu,
    "recurrent": recurrent,
}
