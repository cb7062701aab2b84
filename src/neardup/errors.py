"""Every error neardup raises on purpose, and how a run that meets one ends.

NeardupError            something neardup can explain; a command ends with `exit_code`, a service with `http_status`
├── UsageError          options that do not go together, or name nothing that exists
│   └── RecipeError     a recipe that cannot be: a bad value, or a promise its budget cannot keep
├── InputError          a file or a record that could not be read
├── OutputError         an output that cannot be written
└── MissingExtraError   an optional part that is not installed; says the pip line

Raised where the knowledge is; caught only where a run ends (the command line).
"""


class NeardupError(Exception):
    """A failure neardup can explain. The text says what, where, and what to do."""

    exit_code = 1
    http_status = 500


class UsageError(NeardupError, ValueError):
    """Options that do not go together, or that name something that does not exist."""

    exit_code = 2
    http_status = 422


class RecipeError(UsageError):
    """A recipe with a value out of range, an unknown key, or a promise its budget cannot keep."""


class InputError(NeardupError, ValueError):
    """A file or record could not be read. The text names file, line and remedy."""

    exit_code = 2
    http_status = 422


class OutputError(NeardupError):
    """An output could not be written, or would overwrite an input. Nothing was left under its name."""

    exit_code = 1


class MissingExtraError(NeardupError, ImportError):
    """An optional part is not installed. The text gives the pip line."""

    exit_code = 2
    http_status = 501
