"""Fuzzing of every entrance, for as long as one likes: `python -m proof.fuzz --minutes 10`."""
