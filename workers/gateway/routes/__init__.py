"""All routes of the gateway.

Must not know: how the application around them is made.
"""

from fastapi import APIRouter

from slowwave_server.workers.gateway.routes import health, read, record

ROUTERS: tuple[APIRouter, ...] = (health.router, record.router, read.router)
