"""Shorten errors of the database to one line."""

from sqlalchemy.exc import DBAPIError


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, without the statement and the links that libraries add."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return str(cause).strip().split("\n", 1)[0] or type(cause).__name__
