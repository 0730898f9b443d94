"""What to type: a few examples below the help of each verb.

In:   the name of a verb.
Out:  lines that work as they stand, wherever the models of the zoo are.
"""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "serve": (
        "glassformer",
        "glassformer serve tom.bundle --port 8000 --no-browser",
        "glassformer serve --models my-models --keep my-recordings",
    ),
    "demo": ("glassformer demo",),
    "record": (
        'glassformer record zoo/gpt2 "The quick brown fox" --layer 3',
        'glassformer record zoo/translator "Where is Tom?" --to zh --output tom.bundle',
        'glassformer record zoo/gpt2 "The quick" --decode beam 4 --max-new-tokens 8',
        'glassformer record zoo/bert "It rained." --edit "zero encoder self 2 1"',
        "glassformer record zoo/gpt2 --texts sentences.txt --output folder",
    ),
    "show": ("glassformer show tom.bundle --part cross --layer 2 --head 1",),
    "export": ("glassformer export tom.bundle tom.html --hidden",),
    "figure": (
        "glassformer figure tom.bundle tom.pdf --part cross --layer 2",
        "glassformer figure tom.bundle heads.svg --view heads --width page",
        "glassformer figure runs/first curves.pdf",
    ),
    "score": (
        "glassformer score tom.bundle",
        "glassformer score tom.bundle entropy --over layer",
        'glassformer score zoo/gpt2 "a b c a b c" induction --json',
    ),
    "metrics": ("glassformer metrics entropy",),
    "long": ("glassformer long --tokens 20000 --output long.bundle",),
    "train": ("glassformer train recipes/first.toml --set task.folder=. --set task.path=my-text.txt",),
    "runs": ("glassformer runs", "glassformer runs first"),
    "translate": (
        'glassformer translate "I love you." --to fr',
        "glassformer translate zoo/translator --input english.txt --output german.txt --to de",
    ),
    "generate": ('glassformer generate "It was a dark night" --sample --seed 1',),
    "classify": ('glassformer classify "a quietly moving film"',),
    "fill": ('glassformer fill "She opened the [MASK] and looked out."',),
    "convert": ("glassformer convert zoo/gpt2 my-folder --dtype float32",),
    "models": ("glassformer models",),
    "doctor": ("glassformer doctor",),
    "completion": ('eval "$(glassformer completion bash)"',),
}


def tell_examples(name: str) -> str | None:
    """The lines below a help, or nothing."""
    lines = EXAMPLES.get(name, ())
    return "examples:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
