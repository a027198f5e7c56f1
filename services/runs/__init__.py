"""Runs: the record, the lease and the signals of every piece of background work."""
