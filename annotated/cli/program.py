"""The command-line program: from arguments to a command, and from an error to an exit status."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, get_args

import tyro

from annotated import __version__
from annotated.cli import products
from annotated.cli.data import Classroom, Prepare, Show
from annotated.cli.data_prepare import Iwslt14, Multi30k, Texts, Wmt14
from annotated.cli.data_treebank import Treebank
from annotated.cli.errors import explain
from annotated.cli.evaluate import Evaluate
from annotated.cli.export_log import ExportLog
from annotated.cli.finish import Finish
from annotated.cli.info import Info
from annotated.cli.models import Average, Export
from annotated.cli.parsing import parse
from annotated.cli.preflight import DryRunCommand, Preflight, dry_run_defaults, preflight_defaults
from annotated.cli.streams import drop_output, escape_what_the_output_lacks, flush_output, replace_closed_streams
from annotated.cli.train import Train, train_defaults, with_folder
from annotated.cli.translate import Translate

DESCRIPTION = """The Transformer of "Attention Is All You Need". Each command explains itself:
annotated train --help. Results go to standard output, messages to standard
error. --debug (or ANNOTATED_DEBUG=1) shows where an error comes from;
--version names the version.
"""

ALIASES = {"rehearse": "dry-run"}
"""Earlier names of commands."""
USAGE_ERROR, RUNTIME_ERROR, BROKEN_PIPE = 2, 1, 141


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command: its exit status, as `annotated.cli.main` has it."""
    replace_closed_streams()
    escape_what_the_output_lacks()
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given or os.environ.get("ANNOTATED_DEBUG", "0") not in ("", "0")
    given = [argument for argument in given if argument != "--debug"]
    warnings.showwarning = _show_warning
    try:
        status = _status(given)
        flush_output()
        return status
    except BrokenPipeError:  # the reader of the pipe has seen enough
        drop_output()
        return BROKEN_PIPE
    except Exception as error:
        if debug:
            traceback.print_exc()
        else:
            print(f"annotated: {explain(error, given)}", file=sys.stderr)
        return USAGE_ERROR if isinstance(error, ValueError | FileNotFoundError) else RUNTIME_ERROR


def _status(given: list[str]) -> int:
    if given == ["--version"]:
        print(f"annotated {__version__}")
        return 0
    try:
        return _command(given).run() or 0
    except SystemExit as leaving:  # tyro, after --help or a message of its own
        return leaving.code if given and isinstance(leaving.code, int) else USAGE_ERROR


def _command(arguments: list[str]) -> Any:
    if "" in arguments:  # as a path it would be this folder
        before = ["annotated", *arguments][arguments.index("")]
        raise ValueError(f"an argument is empty, after {before}: perhaps a variable of your shell is not set")
    arguments = with_folder(arguments) or ["--help"]  # `annotated` alone lists the commands
    if arguments[0] == "help":
        arguments = [*arguments[1:], "--help"]
    arguments = [ALIASES.get(arguments[0], arguments[0]), *arguments[1:]]
    sub = tyro.conf.subcommand
    training = [] if arguments[0] == "table3" else arguments  # whose --preset is another
    data: Any = (
        Annotated[Classroom, sub("classroom")] | Annotated[Prepare, sub("prepare", default=Prepare.defaults(arguments))]
    )
    data |= Annotated[Show, sub("show")] | Annotated[Texts, sub("texts")] | Annotated[Treebank, sub("treebank")]
    data |= Annotated[Wmt14, sub("wmt14")] | Annotated[Iwslt14, sub("iwslt14")] | Annotated[Multi30k, sub("multi30k")]
    about = "Look at a corpus, or prepare one for training."
    commands: Any = (
        Annotated[data, sub("data", description=about)]
        | Annotated[Train, sub("train", default=train_defaults(training))]
        | Annotated[Preflight, sub("preflight", default=preflight_defaults(training))]
        | Annotated[DryRunCommand, sub("dry-run", default=dry_run_defaults(training))]
        | Annotated[Finish, sub("finish")]
        | Annotated[Evaluate, sub("evaluate")]
        | Annotated[Translate, sub("translate")]
        | Annotated[Average, sub("average")]
        | Annotated[Export, sub("export")]
        | Annotated[ExportLog, sub("export-log")]
        | Annotated[Info, sub("info")]
    )
    own = {command.__metadata__[0].name for command in get_args(commands)}
    if arguments[0] not in own:
        for command in products.commands(arguments[0]):
            commands |= command
    # No option of ours takes a negative number; what a product of others takes, we do not know.
    return parse(commands, arguments, DESCRIPTION, least=0 if arguments[0] in {*own, *products.PACKAGES} else None)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    print(f"annotated: warning: {' '.join(str(message).split())}", file=sys.stderr)
