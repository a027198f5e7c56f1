"""Proofs and measurements on real servers and processes: chaos, load, scale, mutants, sizing.

Each part is a package with a command of its own (`python -m proof.chaos`) and a report in docs/proof/. Nothing of the
product imports this package.

The parts observe only the product's public behaviour and the state of the servers.
"""
