"""The operations of Slowwave: each reads data, lets the domain decide, calls a model if needed, and writes the result.

No service reads the clock, the environment or settings files; `now` is an argument.
"""
