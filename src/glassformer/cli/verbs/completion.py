"""`glassformer completion`: a script that completes verbs and options in a shell, made from the parser."""

import argparse

from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.errors import InputError

POSITION = 190
EXAMPLES = ('eval "$(glassformer completion bash)"',)
SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: Parser) -> None:
    """The name of a shell."""
    parser.add_argument("shell", metavar="SHELL", help=help_text("cli.help.completion.shell", shells=SHELLS))


def run(arguments: Arguments) -> None:
    """Print the script for a shell."""
    if arguments.shell not in SHELLS:
        raise InputError("cli.completion.unknown", shell=arguments.shell, shells=SHELLS)
    verbs = list_options(arguments.build_parser())
    script = _for_fish(verbs) if arguments.shell == "fish" else _for_bash(verbs)
    print("autoload -U +X bashcompinit && bashcompinit\n" if arguments.shell == "zsh" else "", script, sep="")


def list_options(parser: Parser) -> dict[str, tuple[str, list[str]]]:
    """Every verb with its summary and its options."""
    table = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    summaries = {name: (each.description or "").rstrip(".。") for name, each in table.choices.items()}
    return {
        name: (
            summaries[name],
            [name for action in each._actions for name in action.option_strings if name.startswith("--")],
        )
        for name, each in table.choices.items()
    }


def _for_bash(verbs: dict[str, tuple[str, list[str]]]) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(options)}" ;;' for name, (_, options) in verbs.items())
    return f"""_glassformer() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words="{" ".join(verbs)} --help --version"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="" ;;
    esac
  fi
  COMPREPLY=()
  case "$word" in
  -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  *) [ "$COMP_CWORD" -eq 1 ] && COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
  return 0
}}
complete -o default -F _glassformer glassformer"""


def _for_fish(verbs: dict[str, tuple[str, list[str]]]) -> str:
    lines = ["complete -c glassformer -n __fish_use_subcommand -l help -l version"]
    for name, (summary, options) in verbs.items():
        quoted = summary.replace("'", "\\'")
        lines.append(f"complete -c glassformer -n __fish_use_subcommand -f -a {name} -d '{quoted}'")
        lines += [
            f"complete -c glassformer -n '__fish_seen_subcommand_from {name}' -l {option[2:]}"
            for option in options
        ]
    return "\n".join(lines)
