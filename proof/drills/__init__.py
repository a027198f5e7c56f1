"""Drills: yearly tasks of operators, done by a program: an upgrade in operation, a restore after a loss."""
