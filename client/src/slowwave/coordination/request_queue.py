"""Wake a worker for a request. If the broker fails, redis' own errors are raised; a sweep sends the message later."""

from uuid import UUID

from redis import Redis

from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import ANSWER_REQUEST

REQUEST_QUEUE = "maintenance"


def wake_request(redis: Redis, request: UUID | str) -> None:
    """Send the message for a row of slowwave.requests. A duplicate message is harmless."""
    publish(redis, REQUEST_QUEUE, envelope(ANSWER_REQUEST, [str(request)], {}, REQUEST_QUEUE, task_id=new_id()))
