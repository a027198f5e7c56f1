"""A model as one run asks it: until a cap is reached; whatever goes wrong is counted, and costs no memory.

Must not know: what is asked, which model it is, where budgets are kept.
"""

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
"""not_asked: a cap is reached; no_answer: none of use, and none is to be hoped for; unreachable: later again, since the
endpoint was away or refused the key."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model, and what runs may use it for. run: the one that its calls count for; None: each run for itself."""

    model: AskModel
    synthesize: bool = True
    adjudicate: bool = True
    triples: bool = False
    run: int | None = None

    @classmethod
    def of(cls, model: AskModel | None, settings: Llm, *, run: int | None = None) -> "ModelUse | None":
        """What the settings allow; None where there is no model."""
        if model is None:
            return None
        return cls(model, settings.synthesize, settings.adjudicate, settings.triples, run)


@dataclass
class Asking:
    """One run's questions. counts: by how those ended that got no answer; reached: which cap holds, in words."""

    model: AskModel
    spender: Spender
    counts: Counter[str] = field(default_factory=Counter)
    reached: str = ""

    def ask(self, prompt: Prompt) -> Answer | NoAnswer:
        """Ask, with no transaction open. Raises nothing of what models raise."""
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
            # It says nothing about what was asked: once the key is mended, the same question is a good one.
            log.warning("%s, %s: not asked: %s", self.model.name, prompt.version, error)
            return "unreachable"
        except ModelFailed as error:
            log.warning("%s, %s: no answer of use: %s", self.model.name, prompt.version, error)
            return "no_answer"
        except TransientError as error:
            log.warning("%s, %s: not reached: %s", self.model.name, prompt.version, error)
            return "unreachable"


def spender_of(engine: Engine, scope_id: int, run: int | None) -> Spender:
    """Who pays for questions about a scope: its tenant and, of an agent's own scope, the agent."""
    with engine.connect() as connection:
        scope = connection.execute(select(Scope.tenant, Scope.kind, Scope.name).where(Scope.id == scope_id)).one()
    return Spender(scope.tenant, scope.name if scope.kind == "agent" else None, run)
