-- scope_of: return the scope that a session with this `about` writes to; the agent's own scope if it names none.
CREATE OR REPLACE FUNCTION slowwave.scope_of(p_agent text, p_about jsonb, OUT kind text, OUT name text)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(p_about ->> 'scope_kind', 'agent'), coalesce(p_about ->> 'scope_name', p_agent)
$$;
