"""Retention: remove old data by age, and limit the number of open sessions. services.forget deletes on request."""
