"""Forget statistics of terms: subtract the deleted documents from the counts of scopes that stay.

Without the counts of a large scope, every word would select candidates until the words are counted again. So the counts
stay, except those of words that few other documents may contain: no word stays after its last document is deleted. The
scope is then counted again.
"""

from slowwave_server.services.forget.gather import Step
from slowwave_server.services.search.statistics import COMMON_FROM_DOCUMENTS, COUNT_FROM_EVENTS, SAMPLE_DOCUMENTS

# In a large scope every nth document was counted (n = step), so a word's count may be a few times n too high. Twice the
# deleted count plus eight steps is beyond such a chance error.
_FEW = (
    f"(t.documents - n.documents < {COMMON_FROM_DOCUMENTS}"
    f" OR t.documents <= 2 * n.documents + 8 * ceil(k.counted_documents / {SAMPLE_DOCUMENTS}.0))"
)
_MEANT = "t.scope_id = n.scope_id AND t.term = n.term AND k.id = n.scope_id"
STATISTICS: tuple[Step, ...] = (
    Step(
        "CREATE TEMP TABLE gone_documents ON COMMIT DROP AS"
        " SELECT d.scope_id, sum(d.documents) AS documents, sum(d.events) AS events FROM ("
        "  SELECT s.scope_id, (SELECT count(*) FROM slowwave.passages p WHERE p.session_id = s.id) AS documents,"
        "   s.processed_until AS events FROM slowwave.sessions s JOIN gone_sessions g ON g.id = s.id"
        "  UNION ALL SELECT g.scope_id, 1, 0 FROM gone_memories g) AS d GROUP BY d.scope_id"
    ),
    Step("ANALYZE gone_documents"),
    Step(
        "WITH said AS MATERIALIZED ("
        "  SELECT d.scope_id, substr(w.lexeme, length(CAST(d.scope_id AS text)) + 2) AS term,"
        "   count(*) AS documents FROM ("
        "   SELECT p.scope_id, p.search FROM slowwave.passages p JOIN gone_sessions g ON g.id = p.session_id"
        "   UNION ALL SELECT m.scope_id, m.search FROM slowwave.memories m JOIN gone_memories g ON g.id = m.id"
        "  ) AS d CROSS JOIN LATERAL unnest(d.search) AS w GROUP BY 1, 2"
        " ), lowered AS ("
        "  UPDATE slowwave.common_terms t SET documents = t.documents - n.documents"
        f" FROM said n, slowwave.scopes k WHERE {_MEANT} AND NOT {_FEW}"
        f" ) DELETE FROM slowwave.common_terms t USING said n, slowwave.scopes k WHERE {_MEANT} AND {_FEW}"
    ),
    Step(
        "UPDATE slowwave.scopes k SET counted_documents = greatest(0, k.counted_documents - d.documents),"
        " flushed_events = greatest(0, k.flushed_events - d.events), counted_events = 0"
        " FROM gone_documents d WHERE d.scope_id = k.id"
    ),
    # A scope that is small or empty now is searched completely.
    Step(
        "WITH small AS ("
        "  UPDATE slowwave.scopes k SET counted_documents = 0, counted_mean_length = 0, counted_events = 0,"
        f"   counted_at = NULL, flushed_events = CASE WHEN g.id IS NULL THEN k.flushed_events ELSE 0 END"
        "  FROM near_scopes n LEFT JOIN gone_scopes g ON g.id = n.id"
        f"  WHERE k.id = n.id AND (g.id IS NOT NULL OR k.flushed_events < {COUNT_FROM_EVENTS}) RETURNING k.id"
        " ) DELETE FROM slowwave.common_terms t USING small WHERE t.scope_id = small.id"
    ),
)
"""In this order, while what goes is still there."""
