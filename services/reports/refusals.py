"""Find the fix if a server refuses a connection: for the certificate, the login, or the privileges of the login.

Libraries distinguish these cases only by their messages; each phrase below comes from libpq, OpenSSL or the server.
"""

import re
from collections.abc import Mapping
from typing import Literal

Server = Literal["postgres", "broker"]

_POSTGRES: Mapping[str, str] = {
    "certificate verify failed": "name the authority of the server's certificate: sslrootcert=FILE in"
    " SLOWWAVE_DATABASE_URL",
    "does not match host name": "name the host in SLOWWAVE_DATABASE_URL as the server's certificate has it",
    "root certificate file": "give sslrootcert in SLOWWAVE_DATABASE_URL the file of the authority's certificate",
    "does not support SSL": "switch TLS on at Postgres (ssl = on), or ask for less than sslmode=require",
    "no encryption": "it takes TLS alone: add ?sslmode=verify-full&sslrootcert=FILE to SLOWWAVE_DATABASE_URL",
    "authentication failed|no password supplied|role .* does not exist": "give the login and its password in"
    " SLOWWAVE_DATABASE_URL; `slowwave admin roles add` makes one",
    "permission denied": "as the owner: `slowwave admin roles list` shows whether this login exists,"
    " `slowwave admin roles apply` grants each role what it needs",
}
_BROKER: Mapping[str, str] = {
    "ertificate is not valid for": "name the host in SLOWWAVE_BROKER_URL as the server's certificate has it",
    "certificate verify failed": "name the authority of the server's certificate in SLOWWAVE_BROKER_CA",
    "No such file": "SLOWWAVE_BROKER_CA names a file that is not there",
    "invalid username-password|Authentication required|WRONGPASS|NOAUTH|without any password": "give the user and its"
    " password in SLOWWAVE_BROKER_URL; `slowwave admin roles redis` makes one",
    "no permissions": "use the user that is for this part: `slowwave admin roles redis` prints what each may do",
}


def cure_of_refusal(server: Server, said: str) -> str | None:
    """Return the fix for a refusal, by the error text of server or library; None if the server did not answer."""
    known = _POSTGRES if server == "postgres" else _BROKER
    return next((cure for words, cure in known.items() if re.search(words, said)), None)
