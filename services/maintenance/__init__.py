"""Maintenance jobs: their schedule, their configuration, and the scheduler that runs them."""
