"""Queue `consolidate`: moves notes of days into long-term memory on request; the daily job does this without a
request.
"""

import logging

from slowwave.coordination.keys import CONSOLIDATE_QUEUE
from slowwave.identity import scope_of
from slowwave.messages import CURATE_SCOPE
from slowwave_server.services.curation.curate import CurationRules, curate
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.task_payloads import CurateScope
from slowwave_server.tasks.base import SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)


@slowwave_task(CURATE_SCOPE, queue=CONSOLIDATE_QUEUE)
def curate_scope(self: SlowwaveTask, asked: CurateScope) -> str:
    """Curate a scope, unless its passes of the day have run, so that a redelivery changes nothing."""
    runtime = self.runtime
    kind, name = scope_of(asked.agent, asked.scope)
    with runtime.engine.connect() as connection:
        scope_id = find_scope(connection, asked.tenant or runtime.settings.tenant, kind, name)
    if scope_id is None:
        log.info("curate %s:%s: nothing was ever written there", kind, name)
        return "unknown"
    settings = runtime.settings.memory
    rules = CurationRules(settings.auto_flush.curation, settings.consolidation)
    report = curate(runtime.engine, scope_id, rules=rules, clock=runtime.clock, by=self.request.hostname)
    log.info("curate %s:%s: %s", kind, name, report.summary)
    return report.state
