"""What is shown and not only said: chaos, load, scale, mutants and sizes, on real servers and processes.

Each part is a package with a command of its own (`python -m proof.chaos`) and a report in docs/proof/. Nothing of the
product imports this package.

Must not know: how the product does what is shown; parts look at what any user could see, and at the servers' state.
"""
