"""Fuzz every entrance, for any time: `python -m proof.fuzz --minutes 10`."""
