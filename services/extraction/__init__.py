"""Extraction with resources that the domain can't access: a model over the network, and the memories of a scope."""
