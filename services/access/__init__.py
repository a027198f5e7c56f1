"""Roles of Postgres and users of Redis: what each part of a deployment may do, and what tells the servers so."""
