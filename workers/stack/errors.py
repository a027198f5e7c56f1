"""The errors of a stack, each with one sentence for the person who started it.

SlowwaveError
└── StackError
├── AlreadyRunning    another stack uses the same data folder
├── NotReady          no stack runs there, or it is still starting, or already stopping
├── PortTaken         another program uses a requested port
├── StackFailed       a part did not start; the sentence names its log
└── StartInterrupted  a stop was requested before everything was up
"""

from slowwave.errors import SlowwaveError


class StackError(SlowwaveError):
    """The base class of all errors that a stack raises deliberately."""


class AlreadyRunning(StackError):
    """Another stack uses the same data folder; the message names its process."""


class NotReady(StackError):
    """No stack is ready on this data folder; the message says whether it is absent, starting or stopping."""


class PortTaken(StackError):
    """A requested port can't be bound; the message names the port and the option."""


class StackFailed(StackError):
    """A part of the stack did not start; the message names the part and the path of its log."""


class StartInterrupted(StackError):
    """A stop was requested while the stack was starting."""
