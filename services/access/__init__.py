"""Roles of Postgres and users of Redis: the rights of each part of a deployment, and the statements that grant them."""
