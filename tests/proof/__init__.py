"""Tests of the proofs themselves: a check that can not fail proves nothing."""
