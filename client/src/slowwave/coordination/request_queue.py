"""Wake a worker for a request. Raises redis' own errors; they cost only time, because a sweep follows."""

from uuid import UUID

from redis import Redis

from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import ANSWER_REQUEST

REQUEST_QUEUE = "maintenance"


def wake_request(redis: Redis, request: UUID | str) -> None:
    """Send the message for a row of slowwave.requests. A duplicate message is harmless."""
    publish(redis, REQUEST_QUEUE, envelope(ANSWER_REQUEST, [str(request)], {}, REQUEST_QUEUE, task_id=new_id()))
