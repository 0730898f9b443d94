"""How well methods of attribution agree with real cuts in the models of the zoo.

In:   the zoo.
Out:  src/glassformer/recorders/causes/faithfulness.json, which comes with Glassformer, and its table for
      docs/how-to/attribution.md.

    python benchmarks/faithfulness.py
"""

from pathlib import Path

import glassformer as gf
from glassformer.recorders.causes.faithfulness import write_measured

FOLDER = Path(gf.__file__).parent / "recorders" / "causes"

WRITTEN = {
    "The men on the road": (" were", " was"),
    "The keys to the cabinet": (" are", " is"),
    "The girl near the trees": (" was", " were"),
    "The cat sat on the": (" floor", " table"),
    "She put on his coat because": (" he", " she"),
    "The children in the garden": (" were", " was"),
}
FILLED = {
    "The cat [MASK] on the floor.": ("lay", 3),
    "The children [MASK] playing in the garden.": ("were", 3),
    "She gave him a glass of [MASK].": ("water", 7),
    "He opened the [MASK] and went into the house.": ("door", 4),
}
FELT = (
    "A moving film with a wonderful cast.",
    "The film is not bad at all.",
    "The story is dull and far too long.",
    "I did not like the actors, but the music was beautiful.",
)
TRANSLATED = (
    "The cat sleeps.",
    "She drinks cold water.",
    "We saw the red house.",
    "My brother reads a book.",
)


def measure(name: str) -> gf.Faithfulness:
    """One model of the zoo."""
    if name == "zoo/gpt2":
        return gf.faithfulness(name, list(WRITTEN), [gf.LogitDifference(*pair) for pair in WRITTEN.values()])
    if name == "zoo/bert":
        return gf.faithfulness(name, list(FILLED), [gf.LogProbability(*pair) for pair in FILLED.values()])
    if name == "zoo/sentiment":
        return gf.faithfulness(name, FELT, gf.ClassProbability("positive"))
    return gf.faithfulness(name, TRANSLATED, gf.TextScore(), target_language="fr")


NAMES = ("zoo/gpt2", "zoo/bert", "zoo/sentiment", "zoo/translator")


def main() -> None:
    """Measure, write, print."""
    found = [measure(name) for name in NAMES]
    (FOLDER / "faithfulness.json").write_text(write_measured(found), encoding="utf-8")
    print(make_table(found))


def make_table(found: list[gf.Faithfulness]) -> str:
    """Rows of Markdown: Spearman's correlation, and Pearson's in brackets."""
    lines = [
        f"| method | of | {' | '.join(each.model for each in found)} |",
        "|---|---|" + "---|" * len(found),
    ]
    for row in found[0].rows:
        cells = [each.row(row.method, row.unit) for each in found]
        numbers = " | ".join(f"{each.spearman:.2f} ({each.pearson:.2f})" for each in cells)
        lines.append(f"| `{row.method}` | {row.unit} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
