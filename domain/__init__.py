"""Pure rules of Slowwave: the types event, window, candidate and memory, and every decision about them.

No function reads a clock, the environment, a database or the network; `now` is always an argument.
"""
