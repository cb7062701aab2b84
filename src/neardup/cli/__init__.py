"""The command line: one file per command. Parse, call, print; the only place that prints, draws or ends the process."""

import os
import signal
import sys
from importlib.metadata import version
from types import FrameType
from typing import Annotated

import typer

from neardup.cli import curve, dedup
from neardup.errors import NeardupError

app = typer.Typer(
    name="neardup",
    help="Find near-duplicate texts, verify them exactly, and keep one good copy of each.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
for command in (dedup, curve):
    app.command(command.__name__.rpartition(".")[2], no_args_is_help=command.NEEDS_ARGUMENTS)(command.run)


# Typer brings its own copy of click and makes public only one of the errors below this class.
_WrongUsage: type[typer.BadParameter] = typer.BadParameter.__mro__[1]


class _Terminated(BaseException):
    """SIGTERM, made an exception so that temporary files go."""


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"neardup {version('neardup')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[  # its callback does what it is for
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find near-duplicate texts, verify them exactly, and keep one good copy of each."""


def main() -> None:
    """Run the command line and end the process: 0 done, 1 failed while running, 2 wrong usage or unreadable input."""
    signal.signal(signal.SIGTERM, _terminate)
    code = _end()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # all is written and closed; taking the interpreter apart would take a tenth of a second more


def _end() -> int:  # noqa: PLR0911  # one return for each way to end
    """Run the command line; return the code to end with, having said on stderr why where it is not 0."""
    try:
        code = app(standalone_mode=False)
    except NeardupError as error:
        return _say(str(error), error.exit_code)
    except _WrongUsage as error:
        return _say(f"{error.format_message().removesuffix('.')}. See 'neardup --help'.", 2)
    except typer.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted; nothing was written.", 130)
    except _Terminated:
        return _say("terminated; nothing was written.", 143)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # what a shell says of a program that a closed pipe ended
    except MemoryError:
        return _say("out of memory; nothing was written. Split the input, or use fewer --threads.", 1)
    return code if isinstance(code, int) else 0


def _say(sentence: str, code: int) -> int:
    print(f"neardup: {sentence}", file=sys.stderr)
    return code


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated
