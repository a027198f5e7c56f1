"""Webhooks: changes are put into an outbox for each endpoint, signed, and sent until the endpoint has accepted them."""
