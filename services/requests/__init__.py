"""Requests of the HTTP API and the client that a worker carries out."""
