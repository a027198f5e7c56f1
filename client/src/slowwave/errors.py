"""Every error that the client raises on purpose, as one tree.

    SlowwaveError
    ├── InvalidSettings      a key, variable or value of the configuration that can't be used
    └── InvalidName          a tenant, agent, session or scope name that can't be used (also a ValueError)

Must not know: the code that raises them.
"""


class SlowwaveError(Exception):
    """The root: `except SlowwaveError` catches whatever Slowwave raises on purpose, and nothing else."""


class InvalidName(SlowwaveError, ValueError):
    """A name of a tenant, agent, session, room or team breaks the rules of `slowwave.identity.check_name`."""


class InvalidSettings(SlowwaveError, ValueError):
    """A key, variable or value of the configuration can't be used; the message names it and where it stood."""
