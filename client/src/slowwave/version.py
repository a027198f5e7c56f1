"""The version of everything here: client and service are released together. Both packages read it from this file."""

VERSION = "0.1.0"
