"""Retention: remove old data by age, and bound the number of open sessions. services.forget deletes on request."""
