"""The search of a shop: a query meets the keys of the products; values are mixed by how well keys fit.

In:   what a customer looks for, in English, Chinese or both.
Out:  scores, weights, and the mixture of the values: price and warmth. A key is the set of the words that
      describe a product (in Chinese of their characters): q·k counts shared ones.
"""

import re

import torch
from torch import Tensor

from glassformer.lessons.figures import measure, numbers, percent, round_number, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Bars, Table
from glassformer.messages import Message, message
from glassformer.model.similarity import dot

PRODUCTS = {  # by their names in the catalogues: the key, and the value: price and warmth
    "thin_jacket": ("red thin down jacket 红色薄款羽绒服", (399.0, 6.0)),
    "thick_jacket": ("black thick down jacket 黑色厚款羽绒服", (599.0, 9.0)),
    "coat": ("red woollen coat 红色羊毛大衣", (699.0, 7.0)),
    "dress": ("red thin dress 红色薄款连衣裙", (259.0, 2.0)),
    "jeans": ("blue jeans 蓝色牛仔裤", (199.0, 4.0)),
}


def compute(inputs: Inputs) -> Result:
    """Search the shop."""
    scores = score(inputs.text("query"))
    weights = torch.softmax(scores / inputs.number("temperature"), 0)
    values = torch.tensor([value for _, value in PRODUCTS.values()])
    price, warmth = (weights @ values).tolist()
    table = Table(
        id="table",
        title=message("lessons.search.table"),
        columns=tuple(
            message(f"lessons.search.column.{name}")
            for name in ("product", "score", "weight", "price", "warmth")
        ),
        rows=tuple(
            (
                message(f"lessons.search.product.{name}"),
                round_number(float(scores[i])),
                round_number(float(weights[i])),
                *value,
            )
            for i, (name, (_, value)) in enumerate(PRODUCTS.items())
        ),
        marked=tuple(i for i in range(len(PRODUCTS)) if scores[i] == scores.max() > 0),
    )
    bars = Bars(
        id="weights",
        title=message("lessons.search.weights"),
        labels=tuple(name_key(key, inputs.text("query")) for key, _ in PRODUCTS.values()),
        value_title=message("lessons.search.column.weight"),
        series=(series("lessons.search.column.weight", weights),),
        high=1.0,
    )
    mixture = numbers(
        "mixture",
        "lessons.search.mixture",
        measure("lessons.search.column.price", price),
        measure("lessons.search.column.warmth", warmth),
    )
    return Result(_find(scores, weights), (table, bars, mixture))


def read_features(text: str) -> set[str]:
    """Words of an alphabet, and single Chinese characters."""
    return set(re.findall(r"[一-鿿]|[^\W一-鿿]+", text.lower()))


def name_key(key: str, query: str) -> str:
    """A key in the language of the query; a query in both languages sees both."""
    english, _, chinese = key.rpartition(" ")
    if query.isascii():
        return english
    return key if re.search("[a-z]", query.lower()) else chinese


def score(query: str) -> Tensor:
    """q·k of the query with each product: how many features they share. (product,)"""
    keys = [read_features(key) for key, _ in PRODUCTS.values()]
    asked = read_features(query)
    alphabet = sorted(set().union(*keys))
    described = torch.tensor([[float(feature in key) for feature in alphabet] for key in keys])
    return dot(torch.tensor([[float(feature in asked) for feature in alphabet]]), described)[0]


def _find(scores: Tensor, weights: Tensor) -> Message:
    """What the weights say; products that fit equally well are all named."""
    if not scores.any():
        return message("lessons.search.no_match", share=percent(1 / len(PRODUCTS)))
    best = [
        message(f"lessons.search.product.{name}")
        for name, score in zip(PRODUCTS, scores.tolist(), strict=True)
        if score == float(scores.max())
    ]
    share = percent(float(weights.max()))
    code = "lessons.search.best" if len(best) == 1 else "lessons.search.tied"
    return message(code, products=best, share=share, shared=int(scores.max()))
