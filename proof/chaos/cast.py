"""The agents of a chaos run: with their own conversations, in rooms and in a team, in two tenants."""

from dataclasses import dataclass

from proof.chaos.places import MODEL_AGENTS

OTHER_TENANT = "globex"
_OTHER_TENANTS_SHARE = 3
_MODEL_SHARE = 5
_ROOMS = 3
_TEAMS = ("garden", "kitchen", "library")
SHARED_AGENT = "concierge"
"""One agent in whose conversations all producers speak at once."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The place of a conversation. tenant: None for the settings' own. forgettable: True if only one producer speaks
    here.

    facts: True if values of attributes may be told here: by one agent only, and read by the rules.
    """

    tenant: str | None
    agent: str
    session: str
    scope: str | None
    forgettable: bool = True

    @property
    def facts(self) -> bool:
        return self.scope is None and self.forgettable and not self.agent.startswith(MODEL_AGENTS)


def conversations(producer: int, agents: int) -> list[Conversation]:
    """Return all conversations of one producer. Names of agents, rooms and teams occur in both tenants."""
    found = [Conversation(None, SHARED_AGENT, f"desk-{number}", None, forgettable=False) for number in range(2)]
    for number in range(agents):
        reader = f"{MODEL_AGENTS}-" if number % _MODEL_SHARE == _MODEL_SHARE - 1 else ""
        agent = f"{reader}agent-{producer}-{number}"
        room, team = f"room:hall-{number % _ROOMS}", f"team:{_TEAMS[number // _ROOMS % len(_TEAMS)]}"
        for tenant in (None, OTHER_TENANT) if number % _OTHER_TENANTS_SHARE == 0 else (None,):
            own = [Conversation(tenant, agent, name, None) for name in ("monday", "tuesday/ä b")]
            shared = [
                Conversation(tenant, agent, "in the hall", room),
                Conversation(tenant, agent, "team", team),
            ]
            found += [*own, *shared]
    return found
