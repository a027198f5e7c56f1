"""Process one batch of a pass in one transaction: merge repetitions, register contradictions, promote memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave.settings import Consolidation
from slowwave_server.domain.blocking import claim_keys
from slowwave_server.domain.consolidation.groups import Group, groups, survivor
from slowwave_server.domain.consolidation.known import MemoryRevision, may_contradict
from slowwave_server.domain.consolidation.promotion import Bounds, evidence_for
from slowwave_server.domain.consolidation.values import Valued, settle_values, valued
from slowwave_server.domain.similarity import MeaningOf, Thresholds, read
from slowwave_server.domain.triples import triples
from slowwave_server.services.consolidation.effects import Effects
from slowwave_server.services.consolidation.endings import Endings, settle_endings
from slowwave_server.services.consolidation.neighbours import index_blocks, load
from slowwave_server.services.consolidation.questions import MOST_ASKED
from slowwave_server.services.consolidation.replacing import settle_changes
from slowwave_server.services.consolidation.witnesses import count_witnesses
from slowwave_server.services.consolidation.world import MAX_COMPONENT, NOT_AGAIN, World
from slowwave_server.services.memories.changes import Author, Ledger, mark_checked
from slowwave_server.services.memories.triples import store_triples

MAX_LINKS = 5
MAX_VALUES = 200
_SAME_CLAIM = text(
    "SELECT DISTINCT b.memory_id FROM unnest(CAST(:keys AS bigint[])) AS p (key) CROSS JOIN LATERAL ("
    "  SELECT k.memory_id FROM slowwave.memory_blocks k WHERE k.scope_id = :scope AND k.key = p.key"
    "  ORDER BY k.memory_id DESC LIMIT :most) AS b"
)
_NOT_PROMOTED = text(
    "SELECT DISTINCT c.memory_id FROM slowwave.memory_changes c JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    " JOIN slowwave.memories m ON m.id = c.memory_id"
    f" WHERE c.memory_id = ANY(:ids) AND c.action = 'promoted' AND {NOT_AGAIN}"
)
# Memories whose last change of status was a promotion by a run. A person's decision stays.
_PROMOTED = text(
    "SELECT DISTINCT ON (c.memory_id) CASE WHEN c.action = 'promoted' THEN c.memory_id END"
    " FROM slowwave.memory_changes c WHERE c.memory_id = ANY(:ids) AND c.after ? 'status'"
    " ORDER BY c.memory_id, c.id DESC"
)


@dataclass(frozen=True, slots=True)
class Batch:
    """The inputs of a batch. A batch is one transaction and never waits for a model.

    meaning: the model of pairs, or None. again: True to decide also about pairs whose earlier decision was undone.
    may_ask: the highest number of questions about contradictions that the batch may add to the inbox.
    """

    connection: Connection
    scope_id: int
    settings: Consolidation
    author: Author
    now: datetime
    meaning: MeaningOf | None = None
    again: bool = False
    may_ask: int = MOST_ASKED


def thresholds_of(settings: Consolidation) -> Thresholds:
    """Return the similarity thresholds of the settings, in the form that the judge takes."""
    return Thresholds(
        merge=settings.merge_threshold,
        synthesize=settings.synthesize_threshold,
        link=settings.link_threshold,
        duplicate=settings.duplicate_threshold,
    )


def settle(batch: Batch, memories: Sequence[MemoryRevision]) -> Effects:
    """Consolidate these memories of one scope with their neighbours and merged memories. Raises Stale."""
    effects = Effects(Ledger(batch.connection, batch.author, batch.now), batch.scope_id, batch.may_ask)
    index_blocks(batch.connection, batch.scope_id, memories)
    world = World(
        batch.connection,
        batch.scope_id,
        thresholds_of(batch.settings),
        again=batch.again,
        meaning=batch.meaning,
    )
    world.look(memories)
    for component in world.components(memories):
        _make_one(effects, world, component)
    if effects.touched:
        world.reload(effects.touched)
    concerned = sorted({world.head(memory.id) for memory in memories}, key=lambda memory: world.known[memory].order)
    standing = [world.known[memory] for memory in concerned if world.known[memory].live]
    standing = _settle_values(batch, effects, world, standing)
    endings = Endings(batch.connection, batch.scope_id, world.pin, world.pinned)
    if settle_endings(effects, endings, standing):
        standing = _reload(effects, world, standing)
    if settle_changes(batch.connection, effects, world, standing):
        standing = _reload(effects, world, standing)
    _compare(batch, effects, world, standing)
    if batch.settings.extract_triples:
        said = {memory.id: triples(read(memory.content)) for memory in standing}
        effects.counts["triples"] += store_triples(
            batch.connection, batch.scope_id, said, run_id=batch.author.run_id, now=batch.now
        )
    promote(batch, effects, effects.touched | {memory.id for memory in standing})
    mark_checked(batch.connection, [*effects.touched, *(memory.id for memory in memories)], batch.now)
    return effects


def _make_one(effects: Effects, world: World, component: list[MemoryRevision]) -> None:
    """Divide connected memories into canonical groups: merge each group, and revert merges that no longer hold."""
    if len(component) > MAX_COMPONENT:
        effects.ask(
            f"{len(component)} memories are alike in a chain: too many to merge without a look",
            "medium",
            memory=min(component, key=lambda memory: memory.order).id,
        )
        return
    members = [memory for memory in component if world.groupable(memory)]
    for group in groups(members, world.mergeable):
        _gather(effects, world, group)


def _gather(effects: Effects, world: World, group: Group) -> None:
    kept = survivor(group)
    if kept.merged_into is not None:
        effects.part(kept, "its words are the ones that stay" if len(group) > 1 else "it says something of its own")
    for part in group:
        if kept.id not in (part.id, part.merged_into):
            judgement = world.judged(part.id, kept.id)
            effects.merge(part, kept, "; ".join(judgement.reasons) or judgement.verdict, judgement.score)


def _reload(effects: Effects, world: World, memories: Sequence[MemoryRevision]) -> list[MemoryRevision]:
    """Return the new revisions of these memories, after changes."""
    world.reload(effects.touched)
    return [world.known[memory.id] for memory in memories]


def _settle_values(
    batch: Batch, effects: Effects, world: World, standing: list[MemoryRevision]
) -> list[MemoryRevision]:
    """For each attribute, let later values end earlier values, in the order of event time. Return the new revisions."""
    before = effects.counts.total()
    done: set[tuple[str, str]] = set()
    for memory in standing:
        one = valued(memory)
        if one is None or (one.claim.subject, one.claim.attribute) in done:
            continue
        done.add((one.claim.subject, one.claim.attribute))
        group = _same_attribute(batch, one)
        world.pin(value.memory.id for value in group)
        ended, unclear = settle_values(group, world.pinned, batch.now)
        for one_ended in ended:
            effects.end(one_ended)
        for pair in unclear:
            effects.dispute(pair.newer, pair.older, pair.reason)
    return standing if effects.counts.total() == before else _reload(effects, world, standing)


def _same_attribute(batch: Batch, one: Valued) -> list[Valued]:
    keys = list(claim_keys(read(one.memory.content)))
    rows = batch.connection.execute(_SAME_CLAIM, {"keys": keys, "scope": batch.scope_id, "most": MAX_VALUES})
    known = load(batch.connection, batch.scope_id, rows.scalars())
    found = [valued(memory) for memory in known.values() if memory.live]
    mine = (one.claim.subject, one.claim.attribute)
    same = [value for value in found if value is not None and (value.claim.subject, value.claim.attribute) == mine]
    return sorted(same, key=lambda value: value.memory.order)


def _compare(batch: Batch, effects: Effects, world: World, standing: Sequence[MemoryRevision]) -> None:
    """Register contradictions, and link related memories."""
    settled = {memory.id: valued(memory) for memory in standing}
    for memory in standing:
        related: list[tuple[float, UUID]] = []
        for other in world.live_near(memory.id):
            if world.pinned(memory.id, other.id):
                continue
            judgement = world.judged(memory.id, other.id)
            if judgement.verdict == "conflict":
                ended = memory.id == other.superseded_by or other.id == memory.superseded_by
                one, two = settled[memory.id], valued(other)
                if not ended and not _ended_by_value(one, two) and may_contradict(memory, other):
                    newer, older = sorted((memory, other), key=lambda known: (known.reaffirmed_at, known.order))[::-1]
                    effects.dispute(newer, older, "; ".join(judgement.reasons))
            elif judgement.verdict in {"related", "synthesise"} and judgement.score >= batch.settings.link_threshold:
                related.append((judgement.score, other.id))
                # Only with equal trust: a model's sentence from two memories must not raise the trust of a note.
                if judgement.verdict == "synthesise" and memory.trust == other.trust:
                    effects.middle.add(frozenset((memory.id, other.id)))
        for score, other_id in sorted(related, reverse=True)[:MAX_LINKS]:
            # One link per pair, in the same direction whichever memory arrived first.
            source, target = sorted((memory.id, other_id))
            effects.link(source, target, score)


def _ended_by_value(one: Valued | None, other: Valued | None) -> bool:
    """Return True if both state values of one attribute; `_settle_values` has then already decided about the pair."""
    if one is None or other is None:
        return False
    return (one.claim.subject, one.claim.attribute) == (other.claim.subject, other.claim.attribute)


def _not_promoted(batch: Batch, ids: Sequence[UUID]) -> set[UUID]:
    """Return the memories whose promotion was undone and that this pass may not promote again yet."""
    values = {"ids": list(ids), "again": batch.again}
    return set(batch.connection.execute(_NOT_PROMOTED, values).scalars()) if ids else set()


def promote(batch: Batch, effects: Effects, ids: set[UUID]) -> None:
    """Promote memories with enough evidence; demote memories whose evidence turned out to belong to another memory.

    Only promotions by a run are reverted. Neither an end nor a conflict counts as evidence: otherwise the arrival order
    would decide (I9).
    """
    known = sorted(load(batch.connection, batch.scope_id, ids).values(), key=lambda memory: memory.order)
    witnesses = count_witnesses(batch.connection, [memory.id for memory in known])
    bounds = Bounds(batch.settings.promote_confidence, batch.settings.promote_importance)
    evidence = {memory.id: evidence_for(memory, witnesses.get(memory.id, 0), bounds) for memory in known}
    weak = [memory.id for memory in known if memory.status == "active" and evidence[memory.id] is None]
    promoted = set(batch.connection.execute(_PROMOTED, {"ids": weak}).scalars()) if weak else set()
    forbidden = _not_promoted(batch, [memory.id for memory in known if evidence[memory.id] is not None])
    for memory in known:
        why = evidence[memory.id]
        if memory.status in {"inbox", "episode"} and why is not None and memory.id not in forbidden:
            effects.promote(memory, why)
        elif memory.id in promoted:
            effects.demote(memory)
