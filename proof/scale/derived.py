"""Derive rows from conversations and memories, in SQL: the ledger, days, passages, links, conflicts, the outbox."""

OF_SESSIONS = (
    # Windows of at most twenty events, contiguous up to the watermark (I2).
    """INSERT INTO slowwave.flushes (session_id, from_seq, to_seq, outcome, extractor, extractor_version, attempt,
                                     oldest_recorded_at, started_at, committed_at)
       SELECT s.id, w, least(w + 19, s.processed_until), CASE WHEN s.id %% 7 = 0 THEN 'no_reply' ELSE 'stored' END,
              'rules', '1', 1, s.created_at, s.created_at + interval '5 minutes', s.created_at + interval '5 minutes'
       FROM slowwave.sessions s CROSS JOIN LATERAL generate_series(1, s.processed_until, 20) AS w
       WHERE s.id BETWEEN %(first)s AND %(last)s""",
    # All days but the last two are summarised (I5).
    """INSERT INTO slowwave.session_days (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq,
                                          summarized, pending)
       SELECT e.session_id, e.day, s.agent_id, s.scope_id, count(*), min(e.seq), max(e.seq),
              CASE WHEN d.over THEN count(*) ELSE 0 END, NOT d.over
       FROM slowwave.events e
       JOIN slowwave.sessions s ON s.id = e.session_id
       CROSS JOIN LATERAL (SELECT e.day < (%(now)s::timestamptz - interval '2 days')::date AS over) AS d
       WHERE e.session_id BETWEEN %(first)s AND %(last)s
       GROUP BY e.session_id, e.day, s.agent_id, s.scope_id, d.over""",
    """INSERT INTO slowwave.day_segments (agent_id, scope_id, day, session_id, from_seq, to_seq, messages, lines,
                                          summarizer)
       SELECT d.agent_id, d.scope_id, d.day, d.session_id, d.from_seq, d.to_seq, d.total_messages, '[]', 'rules/1'
       FROM slowwave.session_days d WHERE d.session_id BETWEEN %(first)s AND %(last)s AND NOT d.pending""",
)
"""For conversations number `first` to `last`."""

OF_MEMORIES = (
    """UPDATE slowwave.memories m
       SET search = slowwave.memory_search_vector(m.scope_id, m.content, m.valid_from, m.entities)
       WHERE m.id = ANY (%(ids)s)""",
    """INSERT INTO slowwave.memory_changes (memory_id, flush_id, action, after, reason, made_at)
       SELECT m.id, f.id, 'created', jsonb_build_object('status', 'inbox'), 'said so', m.valid_from
       FROM slowwave.memories m
       JOIN slowwave.memory_sources x ON x.memory_id = m.id
       LEFT JOIN slowwave.flushes f ON f.session_id = x.session_id AND f.from_seq = 1
       WHERE m.id = ANY (%(ids)s)""",
    """INSERT INTO slowwave.outbox (memory_id, backend, scope_id, changes, delivered, queued_at, delivered_at)
       SELECT m.id, 'file', m.scope_id, 1, 1, m.valid_from, m.valid_from FROM slowwave.memories m
       WHERE m.id = ANY (%(ids)s)""",
)
"""For memories with these ids."""

AFTER = (
    """INSERT INTO slowwave.days (agent_id, scope_id, day, status, version, last_summarized_total, summarized_at,
                                  finalized_at)
       SELECT d.agent_id, d.scope_id, d.day, 'final', 1, sum(d.total_messages), %(now)s, %(now)s
       FROM slowwave.session_days d WHERE NOT d.pending GROUP BY d.agent_id, d.scope_id, d.day""",
    """INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text, lines,
                                           made_by, summarizer)
       SELECT y.agent_id, y.scope_id, y.day, 1, true, y.last_summarized_total, 1, 'A day like others.',
              '[{"facet": "said", "text": "A day like others.", "speaker": "Maya", "session": "s1", "seq": 1,
                 "at": "2024-05-01T10:00:00Z", "weight": 0.5}]', 'rules', 'rules/1'
       FROM slowwave.days y""",
    """INSERT INTO slowwave.memory_links (source_id, target_id, predicate, confidence)
       SELECT n.id, n.next, CASE WHEN n.place %% 100 = 0 THEN 'contradicts' ELSE 'related_to' END, 0.8
       FROM (SELECT m.id, lead(m.id) OVER w AS next, row_number() OVER w AS place
             FROM slowwave.memories m WHERE m.status = 'active' WINDOW w AS (ORDER BY m.scope_id, m.id)) AS n
       WHERE n.place %% 10 = 0 AND n.next IS NOT NULL""",
    """INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence, status)
       SELECT m.scope_id, least(l.source_id, l.target_id), greatest(l.source_id, l.target_id), 'two values', '{}',
              CASE WHEN l.id %% 10 = 0 THEN 'open' ELSE 'dismissed' END
       FROM slowwave.memory_links l JOIN slowwave.memories m ON m.id = l.source_id
       WHERE l.predicate = 'contradicts'""",
    """UPDATE slowwave.scopes k SET counted_documents = n.events, counted_events = n.events, counted_at = %(now)s,
              counted_mean_length = 24
       FROM (SELECT s.scope_id, sum(s.processed_until) AS events FROM slowwave.sessions s GROUP BY s.scope_id) AS n
       WHERE n.scope_id = k.id AND n.events >= 200""",
    """UPDATE slowwave.scopes k SET flushed_events = n.events,
              flushed_through = (SELECT max(f.id) FROM slowwave.flushes f)
       FROM (SELECT s.scope_id, sum(s.processed_until) AS events FROM slowwave.sessions s GROUP BY s.scope_id) AS n
       WHERE n.scope_id = k.id""",
    "INSERT INTO slowwave.memory_backends (name) VALUES ('file')",
    "SELECT setval('slowwave.agents_id_seq', (SELECT max(id) FROM slowwave.agents))",
    "SELECT setval('slowwave.scopes_id_seq', (SELECT max(id) FROM slowwave.scopes))",
    "SELECT setval('slowwave.sessions_id_seq', (SELECT max(id) FROM slowwave.sessions))",
)
"""Over all of it, when its indexes stand."""
