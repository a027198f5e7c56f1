"""Load: many agents with the timing of people, until the system is full; what a turn waits to become memory.

`python -m proof.load` runs four parts, each in a process and on servers of its own, and writes one report:

    lag        steps of offered load up to the highest that holds: what a turn waits, and for what
    fairness   the same agents beside one of a hundred times their traffic
    recovery   workers that come back to the turns of an hour
    memory     what every process holds over half an hour

Must not know: how the product flushes. It calls the hooks that any agent's host calls, and reads what users may read.
"""
