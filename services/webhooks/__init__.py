"""Webhooks: changes put into an outbox for each endpoint, and sent, signed, until the endpoint has them."""
