"""The model calls of one run. The calls end when a cap is reached. A failed call is counted and loses no memory."""

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Engine, select

from slowwave.settings import Llm
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import Answer, AskModel, BudgetReached, ModelFailed, Prompt, Spender
from slowwave_server.models import Scope
from slowwave_server.services.llm.drivers import AccessRefused

log = logging.getLogger(__name__)

NoAnswer = Literal["not_asked", "no_answer", "unreachable"]
"""Why a call has no answer.

not_asked: a cap is reached. no_answer: the answer was unusable, and a retry would not help. unreachable: the endpoint
was down or refused the key; retry later.
"""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model, and the purposes of its use. run: the run that pays for its calls; None: each run pays its own."""

    model: AskModel
    synthesize: bool = True
    adjudicate: bool = True
    triples: bool = False
    run: int | None = None

    @classmethod
    def of(cls, model: AskModel | None, settings: Llm, *, run: int | None = None) -> "ModelUse | None":
        """Return the purposes that the settings allow, or None if no model is configured."""
        if model is None:
            return None
        return cls(model, settings.synthesize, settings.adjudicate, settings.triples, run)


@dataclass
class Asking:
    """The calls of one run. counts: calls without an answer, by reason; reached: the reached cap, in words."""

    model: AskModel
    spender: Spender
    counts: Counter[str] = field(default_factory=Counter)
    reached: str = ""

    def ask(self, prompt: Prompt) -> Answer | NoAnswer:
        """Call the model; no transaction may be open. Errors of the model become a `NoAnswer`."""
        outcome = self._try(prompt)
        if isinstance(outcome, str):
            self.counts[outcome] += 1
        return outcome

    def _try(self, prompt: Prompt) -> Answer | NoAnswer:
        if self.reached:
            return "not_asked"
        try:
            return self.model.ask(prompt, self.spender)
        except BudgetReached as cap:
            self.reached = str(cap)
            log.info("%s: %s", prompt.purpose, cap)
            return "not_asked"
        except AccessRefused as error:
            # The endpoint refused the key, not the question: with a valid key, the same question can succeed.
            log.warning("%s, %s: not asked: %s", self.model.name, prompt.version, error)
            return "unreachable"
        except ModelFailed as error:
            log.warning("%s, %s: no usable answer: %s", self.model.name, prompt.version, error)
            return "no_answer"
        except TransientError as error:
            log.warning("%s, %s: not reached: %s", self.model.name, prompt.version, error)
            return "unreachable"


def spender_of(engine: Engine, scope_id: int, run: int | None) -> Spender:
    """Return the payer of model calls about a scope: the tenant and, for an agent's own scope, the agent."""
    with engine.connect() as connection:
        scope = connection.execute(select(Scope.tenant, Scope.kind, Scope.name).where(Scope.id == scope_id)).one()
    return Spender(scope.tenant, scope.name if scope.kind == "agent" else None, run)
