"""The version of everything here: client and service are released together. Both packages read it from this file.

Must not know: anything else.
"""

VERSION = "0.1.0"
