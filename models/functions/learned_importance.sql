-- learned_importance: the importance of a memory, raised or lowered by its use (memories.use_gain), from 0 to 1.
CREATE OR REPLACE FUNCTION slowwave.learned_importance(p_importance double precision, p_use_gain double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT least(greatest(p_importance + p_use_gain, 0), 1)
$$;
