"""Shared parts of command line, console and gateway."""
