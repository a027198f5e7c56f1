"""Slowwave's client: record what agents say, read what they know. Needs no worker code."""
