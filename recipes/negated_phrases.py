"""Short phrases with a negation, which the sentences of reviews hardly have: "not awful" is praise.

    python recipes/negated_phrases.py data/classification

Out:  negated/train.tsv.gz there: each adjective in each phrase, plain (with its own label) and negated (with
      the other).

The words of the examples in zoo/sentiment's card (good, bad, boring, dull, funny, perfect) are not used here,
so that those examples show whether the network has learnt what a negation does, and not which phrases it has
seen.
"""

import argparse
import gzip
from pathlib import Path

POSITIVE = """amazing amusing appealing beautiful brilliant captivating charming clever compelling
convincing delightful effective elegant engaging enjoyable entertaining excellent exciting fascinating
fine fresh gripping hilarious imaginative impressive insightful inspired intelligent interesting
inventive likable lively lovely memorable moving original pleasant powerful refreshing rewarding
satisfying scary smart strong successful surprising suspenseful thrilling touching warm watchable witty
wonderful worthwhile"""
NEGATIVE = """annoying atrocious awful bland clumsy confusing contrived disappointing disgusting
dreadful dumb empty flat forgettable foolish heavy-handed horrible incoherent irritating lame laughable
lazy lifeless long mediocre messy monotonous overlong painful pathetic pointless predictable pretentious
repetitive ridiculous sappy shallow silly sloppy slow stale stupid sluggish tedious terrible tiresome
trite ugly uninspired unpleasant unwatchable weak worthless"""
PLAIN = (
    "{0}",
    "{0} .",
    "very {0}",
    "it is {0} .",
    "it's {0} .",
    "{0} throughout .",
    "always {0} .",
    "this film is {0} .",
)
NEGATED = (
    "not {0}", "not {0} .", "not {0} at all", "not at all {0} .", "never {0} .", "it is not {0} .",
    "it's not {0} .", "it isn't {0} .", "it is never {0} .", "this film is not {0} at all .",
    "the story isn't {0} .", "hardly {0} .", "not {1} {0} film .", "far from {0} .",
)  # fmt: skip


def main() -> None:
    """Write every phrase with every word."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder / "negated"
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / "train.tsv.gz", "wt", encoding="utf-8") as file:
        for words, label, other in ((POSITIVE, "positive", "negative"), (NEGATIVE, "negative", "positive")):
            for word in words.split():
                article = "an" if word[0] in "aeiou" else "a"
                for kind, phrases in ((label, PLAIN), (other, NEGATED)):
                    file.writelines(f"{kind}\t{phrase.format(word, article)}\n" for phrase in phrases)


if __name__ == "__main__":
    main()
