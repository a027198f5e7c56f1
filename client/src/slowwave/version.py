"""The version of client and service, which are released together. Both packages read it from this file."""

VERSION = "0.1.0"
