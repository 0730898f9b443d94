"""`glassformer atlas`: what every head of a model does, over many texts.

In:   a model, texts of files or folders, trees, sentence pairs.
Out:  a folder with atlas.json and examples, and a summary.
"""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.inputs import (
    add_language,
    add_text_files,
    add_workers,
    open_text_files,
    read_texts,
    read_workers,
    require_model,
)
from glassformer.cli.output import show_progress
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.text.files import Problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glassformer.corpus.sources import TextFiles

POSITION = 78
EXAMPLES = (
    "glassformer atlas zoo/gpt2 novels.txt --output gpt2-atlas --limit 1000",
    "glassformer atlas zoo/gpt2 reviews.parquet --column text --output reviews-atlas --jobs 4",
    "glassformer atlas zoo/bert sentences.txt --trees en_ewt-ud-dev.conllu --output bert-atlas",
    "glassformer atlas zoo/translator --pairs english-french.tsv --to fr --output translator-atlas",
)


def add_arguments(parser: Parser) -> None:
    """A model, what it reads, and a folder."""
    parser.add_argument("model", metavar="MODEL")
    add_text_files(parser)
    parser.add_argument("--output", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("--trees", metavar="FILE.conllu", type=Path)
    parser.add_argument("--pairs", metavar="FILE.tsv", type=Path)
    parser.add_argument("--links", metavar=("LINKS", "SOURCE", "TARGET"), nargs=3, type=Path)
    parser.add_argument("--reverse", action="store_true")
    add_language(parser)
    parser.add_argument("--costs", metavar="N", type=int, default=24)
    add_workers(parser)


def run(arguments: Arguments) -> None:
    """Write the atlas and print its summary."""
    from glassformer.corpus.atlas.build import atlas

    require_model(arguments.model)
    for option in ("limit", "costs"):
        number = getattr(arguments, option)
        if number is not None and number < (option == "limit"):
            raise InputError("cli.atlas.negative", option=f"--{option}", number=number)
    sources = [each for each in (arguments.texts, arguments.trees, arguments.pairs) if each is not None]
    sources += arguments.links[:1] if arguments.links else []
    if not sources:
        raise InputError("cli.atlas.no_texts")
    if arguments.texts is None and (arguments.column or arguments.parallel is not None):
        raise InputError("cli.atlas.columns_of_nothing")
    files = None if arguments.texts is None else open_text_files(arguments, trees=True)
    trees = Problems("skip")
    texts = [text for each in _read(arguments, files, trees) for text in islice(each, arguments.limit)]
    if not texts and trees.first:
        raise InputError("cli.atlas.no_trees", problem=trees.first[0].as_message())
    with show_progress(message("cli.atlas.texts"), len(texts) + min(len(texts), arguments.costs)) as report:
        found = atlas(
            arguments.model,
            texts,
            name=", ".join(each.name for each in sources),
            cost_texts=arguments.costs,
            target_language=arguments.target_language,
            **read_workers(arguments),
            on_progress=lambda done, _: report(done),
        )
    found.save(arguments.output)
    print(found)
    for problems in (trees,) if files is None else (files.problems, trees):
        for note in problems.notes():
            print(note)
    print(message("cli.atlas.written", folder=arguments.output, parent=arguments.output.parent))


def _read(arguments: Arguments, files: "TextFiles | None", problems: Problems) -> "Iterator[Iterator[Any]]":
    """The texts of each source that was given; `problems` are those of trees."""
    from glassformer.corpus.sources import read_trees
    from glassformer.metrics.gold import read_alignments

    if files is not None:
        yield iter(files)
    if arguments.trees is not None:
        yield (each for each in read_trees(arguments.trees, problems) if len(each.words) > 1)
    if arguments.pairs is not None:
        yield _read_pairs(arguments.pairs)
    if arguments.links:
        pairs = read_alignments(*arguments.links)
        yield (each.swapped() if arguments.reverse else each for each in pairs if each.sure)


def _read_pairs(path: Path) -> "Iterator[tuple[str, str]]":
    """Text, tab, translation."""
    for number, line in read_texts(path):
        if line.strip():
            text, tab, translation = line.partition("\t")
            if not tab or not text.strip() or not translation.strip():
                raise InputError("cli.atlas.not_a_pair", path=path, number=number)
            yield text.strip(), translation.strip()
