"""Measured comparisons: each part beside what a user would otherwise pick, in one run, as a ratio of medians."""
