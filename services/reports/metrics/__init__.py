"""Figures of the whole installation, each group by one bounded query: what the exporter offers and the doctor judges.

Each group is a dataclass whose fields are metrics (`workers.exporter.catalogue` describes them): a number; a mapping
from the values of its labels to numbers; None if it is unknown. Figures are counts and times: no name of a session, an
agent or a memory, and no text.

Must not know: how figures are shown, Prometheus.
"""

from collections.abc import Mapping

Labels = tuple[str, ...]
By = Mapping[Labels, float]
"""A figure for each value of its labels, in the order in which the catalogue names these."""

COUNTED = 100_000
"""So many rows are counted at most: what waits takes no longer to look at the more it is."""
