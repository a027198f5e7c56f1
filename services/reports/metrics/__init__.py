"""Metrics of the whole installation: the exporter offers them, and the doctor checks them.

One bounded query reads each group of metrics. A group is a dataclass, and each field is one metric
(`workers.exporter.catalogue` describes it): a number; a mapping from label values to numbers; None if it is unknown.
Metrics are counts and times: they contain no text and no name of a session, an agent or a memory.
"""

from collections.abc import Mapping

Labels = tuple[str, ...]
By = Mapping[Labels, float]
"""A number for each combination of label values, in the order in which the catalogue names the labels."""

COUNTED = 100_000
"""The largest number of rows that a query counts, so that its time does not grow with the backlog."""
