"""The operations of Slowwave: each reads data, lets the domain decide, calls a model if needed, and writes the result.

No service reads settings files. The time of a row comes from the caller: as `now`, or as a function `clock`.
"""
