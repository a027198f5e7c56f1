"""What can go wrong with a stack, each as one sentence for the person who started it.

    SlowwaveError
    └── StackError
        ├── AlreadyRunning    another stack uses the same data folder
        ├── NotReady          nobody runs there, or it is still starting, or already stopping
        ├── PortTaken         a port that was asked for belongs to somebody else
        ├── StackFailed       a part did not come up; the sentence names its log
        └── StartInterrupted  asked to stop before everything was up

Must not know: who raises them.
"""

from slowwave.errors import SlowwaveError


class StackError(SlowwaveError):
    """The root of what a stack raises on purpose."""


class AlreadyRunning(StackError):
    """Another stack uses the same data folder; the message names its process."""


class NotReady(StackError):
    """No stack is ready on this data folder; the message says whether it is absent, starting or stopping."""


class PortTaken(StackError):
    """A port that was asked for can't be bound; the message names it and the option."""


class StackFailed(StackError):
    """A part of the stack did not come up; the message names it and where its log is."""


class StartInterrupted(StackError):
    """The stack was asked to stop while it was starting."""
