"""Queue `maintenance`: a tick that sends changes to the URLs of webhooks."""

import logging

from slowwave_server.services.webhooks.delivery import Deliverer
from slowwave_server.services.webhooks.sending import Sender
from slowwave_server.services.webhooks.targets import read_networks
from slowwave_server.tasks.base import SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)

PUMP_SECONDS = 20.0
"""A task delivers for this long; ticks during this time find it at work."""


@slowwave_task("slowwave.deliver_webhooks", every=5)
def deliver_webhooks(self: SlowwaveTask) -> None:
    """Queue changes in the outboxes of webhooks, and send due deliveries."""
    runtime = self.runtime
    rules = runtime.settings.gateway.webhooks
    sender = Sender(rules.timeout_seconds, read_networks(rules.allow_private))
    sent = Deliverer(runtime.engine, sender, rules.disable_after_days, runtime.clock).pump(PUMP_SECONDS)
    if sent:
        log.info("webhooks: %d deliveries tried", sent)
