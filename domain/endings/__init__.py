"""Endings: rejections, corrections, lifted instructions, newer instructions, and outcomes of open work end memories."""
