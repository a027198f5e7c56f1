"""Attacks of the threat model, each tried for real: none may get through."""
