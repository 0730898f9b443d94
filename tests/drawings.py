"""A small recording to draw, and what is to be seen in a figure."""

import re
from xml.etree import ElementTree

import numpy as np

from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, measure

SVG = "{http://www.w3.org/2000/svg}"


def make_tokens(side, texts):
    return Tokens(side, tuple(texts), np.arange(len(texts)))


def make_recording(queries=("a", "b", "c"), keys=("x", "y", "z", "w"), heads=2, layers=2, model="toy"):
    random = np.random.default_rng(0)
    query, key = make_tokens("target", queries), make_tokens("source", keys)
    maps = []
    for layer in range(layers):
        weights = random.dirichlet(np.ones(len(keys)), size=(heads, len(queries))).astype(np.float32)
        place = Place("decoder", "cross", layer)
        maps.append(AttentionMap(place, query, key, measure(weights), dense=weights))
    stamp = Evidence(model, "0123456789abcdef", "eager", "float32", True)
    return Recording(model, stamp, key, query, maps=tuple(maps))


def read_svg(drawn):
    return ElementTree.fromstring(drawn.encode("svg"))


def find(root, name):
    return next(element for element in root.iter() if element.get("id") == name)


def read_text(drawn):
    """Matplotlib keeps the words beside their outlines, as comments."""
    return re.findall(r"<!-- (.*?) -->", drawn.encode("svg").decode())
