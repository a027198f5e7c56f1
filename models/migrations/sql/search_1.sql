-- The vectors of search: what a memory or an event is found by.
--
-- Words are stemmed as English. The weight of a lexeme says where it stood; slowwave.recall says what that is worth:
--   A  its own text and speaker      B  its date      C  the turn before (names, of a memory)      D  the one before that
-- "Yes, in May!" is found by the question that it answers, and "what happened in May 2024" by the date it was said.
--
-- Every lexeme carries its scope (`17:adopt`): one GIN index serves all scopes, and a query of one scope never reads
-- the postings of another (I8).

-- words_vector: stemmed words of a text, its first p_characters, without words so long that a scope in front of them
-- would pass what a lexeme may hold (2,046 bytes). Nothing human is that long; keys and images are.
CREATE FUNCTION slowwave.words_vector(p_text text, p_characters integer) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_vector tsvector;
BEGIN
    IF p_text IS NULL THEN
        RETURN '';
    END IF;
    IF length(p_text) <= 400 THEN
        RETURN to_tsvector('pg_catalog.english', p_text);
    END IF;
    v_vector := to_tsvector('pg_catalog.english', left(p_text, p_characters));
    RETURN ts_delete(v_vector, ARRAY(
        SELECT w.lexeme FROM unnest(v_vector) AS w WHERE octet_length(w.lexeme) > 500));
END
$$;

-- scoped_vector: the scope before every lexeme, positions and weights kept, and the date (UTC) as four words more.
--
-- Done on the text form, which quotes every lexeme: a third of the time of taking a vector apart and building it anew.
-- No lexeme holds a blank, so a blank and a quote begin a lexeme and nothing else. The names of days and months stand
-- here as the stemmer leaves them, since parsing four words a row costs more than all the rest.
CREATE FUNCTION slowwave.scoped_vector(p_scope_id bigint, p_vector tsvector, p_at timestamptz) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
AS $$
DECLARE
    v_day date := (p_at AT TIME ZONE 'UTC')::date;
    v_open text := ' ''' || p_scope_id || ':';
    v_names text[] := '{monday,tuesday,wednesday,thursday,friday,saturday,sunday,
        januari,februari,march,april,may,june,juli,august,septemb,octob,novemb,decemb}';
BEGIN
    RETURN (
        replace(' ' || p_vector::text, ' ''', v_open)
        || v_open || v_names[extract(isodow FROM v_day)] || ''':1B'
        || v_open || extract(day FROM v_day) || ''':1B'
        || v_open || v_names[7 + extract(month FROM v_day)] || ''':1B'
        || v_open || extract(year FROM v_day) || ''':1B')::tsvector;
END
$$;

-- passage_vector: an event with its speaker and its date, for one event alone. p_speaker may be NULL.
CREATE FUNCTION slowwave.passage_vector(
    p_scope_id bigint, p_content text, p_speaker text, p_happened_at timestamptz
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT slowwave.scoped_vector(
        p_scope_id,
        setweight(slowwave.words_vector(p_speaker, 200) || slowwave.words_vector(p_content, 40000), 'A'),
        p_happened_at)
$$;

-- passage_vectors: consecutive events of a session, each with the two before it.
-- p_passages: [{seq, text, speaker, at}, …]; begin two events early, so that the first new one has its turns before it.
-- Each text is parsed once, since parsing is nearly all of the cost.
CREATE FUNCTION slowwave.passage_vectors(p_scope_id bigint, p_passages jsonb) RETURNS TABLE (seq bigint, search tsvector)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    WITH parsed AS MATERIALIZED (
        SELECT p.seq, p.speaker, p.at, slowwave.words_vector(p.text, 40000) AS words
        FROM jsonb_to_recordset(p_passages) AS p (seq bigint, text text, speaker text, at timestamptz)
    )
    SELECT p.seq, slowwave.scoped_vector(
        p_scope_id,
        setweight(slowwave.words_vector(p.speaker, 200) || p.words, 'A')
            || setweight(coalesce(lag(p.words, 1) OVER session, ''), 'C')
            || setweight(coalesce(lag(p.words, 2) OVER session, ''), 'D'),
        p.at)
    FROM parsed p
    WINDOW session AS (ORDER BY p.seq)
$$;

-- memory_vector: a memory, with the day since which it holds and the names that it was filed under.
CREATE FUNCTION slowwave.memory_vector(
    p_scope_id bigint, p_content text, p_valid_from timestamptz, p_entities text[]
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT slowwave.scoped_vector(
        p_scope_id,
        setweight(slowwave.words_vector(p_content, 40000), 'A')
            || setweight(slowwave.words_vector(array_to_string(p_entities, ' '), 2000), 'C'),
        p_valid_from)
$$;
