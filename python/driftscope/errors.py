"""What this package raises. Every message says what, where, and how to fix it."""


class DriftscopeError(Exception):
    """The base of all errors of this package."""


class ProgramMissing(DriftscopeError):
    """The program `driftscope` is not here, or is too old for this package."""


class ProgramFailed(DriftscopeError):
    """The program rejected what it was given; its own message is the text.

    status: its exit code (2 wrong use or bad input, 3 something is missing, negative: killed by that signal).
    """

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


class FrameworkMissing(DriftscopeError):
    """A recorder's framework is not installed; the message has the command that installs it."""


class BadInput(DriftscopeError):
    """An argument, a file or a mapping is not what is needed."""
