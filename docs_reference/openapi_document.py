"""`docs/openapi.json`: the gateway's OpenAPI document, which the types of the TypeScript client are made from."""

from slowwave_server.workers.gateway.openapi import document_of
from slowwave_server.workers.gateway.routes import ROUTERS


def openapi_document() -> str:
    """The document, as `/openapi.json` answers it."""
    return document_of(ROUTERS)
