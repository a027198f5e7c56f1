"""All routes of the gateway."""

from fastapi import APIRouter

from slowwave_server.workers.gateway.routes import (
    changes,
    days,
    forget,
    health,
    keys,
    memories,
    read,
    record,
    review,
    runs,
    status,
    webhooks,
    working,
)

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    record.router,
    read.router,
    memories.router,
    days.router,
    working.router,
    review.router,
    runs.router,
    forget.router,
    keys.router,
    status.router,
    changes.router,
    webhooks.router,
)
