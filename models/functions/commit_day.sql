-- commit_day: store the summary of a day as its next version, and record which events it covers.
--
-- p_epoch: the epoch of the agent when the day was read. p_version: the version of the day when it was read.
-- p_over: whether the day is over. p_final: whether the summary should be final. It becomes final if the day is over
--   and no event has arrived since.
-- p_sessions, p_totals: how many events were read, per session. The function counts the events that were read, whatever
--   has arrived since.
-- p_summarizer: the summarizers of the parts, the current one first: "model …" or "rules/…".
-- Returns the day's status and version, and `outcome`: "written", "lost" (another summary was committed first), or
-- "forgotten" (the agent or a session was deleted, and forgotten data must not be written again).
--
-- The function runs as one statement because captures wait for its row locks: a worker that stops midway cannot hold
-- them. It locks rows in the order in which a capture of many sessions locks them.
CREATE OR REPLACE FUNCTION slowwave.commit_day(
    p_agent_id bigint, p_scope_id bigint, p_day date, p_epoch integer, p_version integer, p_over boolean,
    p_final boolean, p_sessions bigint[], p_totals integer[], p_segments integer, p_text text, p_lines jsonb,
    p_summarizer text, p_now timestamptz,
    OUT outcome text, OUT status text, OUT version integer
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_read bigint := (SELECT coalesce(sum(t), 0) FROM unnest(p_totals) AS t);
    v_there record;
BEGIN
    outcome := 'forgotten';
    PERFORM FROM slowwave.agents a WHERE a.id = p_agent_id AND a.epoch = p_epoch FOR SHARE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM FROM slowwave.days y
    WHERE (y.agent_id, y.scope_id, y.day) = (p_agent_id, p_scope_id, p_day) AND y.version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'lost';
        RETURN;
    END IF;
    PERFORM FROM slowwave.session_days d
    JOIN slowwave.sessions s ON s.id = d.session_id
    JOIN unnest(p_sessions, p_totals) AS r(session_id, total) ON r.session_id = d.session_id
    WHERE d.day = p_day AND d.summarized <> r.total
    ORDER BY s.name COLLATE "C"
    FOR NO KEY UPDATE OF d;
    SELECT coalesce(sum(d.total_messages), 0) AS total, count(*) FILTER (WHERE d.session_id = ANY(p_sessions)) AS sessions
    INTO v_there
    FROM slowwave.session_days d
    WHERE d.agent_id = p_agent_id AND d.day = p_day AND d.scope_id = p_scope_id;
    IF v_there.sessions <> cardinality(p_sessions) THEN
        RETURN;
    END IF;
    UPDATE slowwave.session_days d SET summarized = r.total, pending = d.total_messages > r.total
    FROM unnest(p_sessions, p_totals) AS r(session_id, total)
    WHERE d.session_id = r.session_id AND d.day = p_day AND d.summarized <> r.total;

    outcome := 'written';
    version := p_version + 1;
    status := CASE WHEN NOT p_over THEN 'open' WHEN p_final AND v_there.total = v_read THEN 'final' ELSE 'settling' END;
    UPDATE slowwave.days y SET
        status = commit_day.status, version = commit_day.version, last_summarized_total = v_read, summarized_at = p_now,
        finalized_at = CASE WHEN commit_day.status = 'final' THEN p_now ELSE y.finalized_at END,
        attempts = 0, not_before = NULL, last_error = NULL
    WHERE (y.agent_id, y.scope_id, y.day) = (p_agent_id, p_scope_id, p_day);
    INSERT INTO slowwave.day_summaries (
        agent_id, scope_id, day, version, final, messages, segments, text, lines, made_by, summarizer, created_at)
    VALUES (p_agent_id, p_scope_id, p_day, commit_day.version, commit_day.status = 'final', v_read, p_segments, p_text,
            p_lines, CASE WHEN p_summarizer LIKE 'model %' THEN 'model' ELSE 'rules' END, p_summarizer, p_now);
END
$$;
