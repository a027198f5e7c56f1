"""Measured comparisons: each part runs beside the usual alternative, in one run, as a ratio of medians."""
