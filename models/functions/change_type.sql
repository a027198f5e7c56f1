-- change_type: name a change of a memory for readers of the feed, by its action and by the fields that it set.
CREATE OR REPLACE FUNCTION slowwave.change_type(p_gone boolean, p_action text, p_before jsonb, p_after jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE
        WHEN p_gone OR p_action = 'created' THEN p_action
        WHEN p_action = 'undone' AND jsonb_typeof(p_before) IS DISTINCT FROM 'object' AND p_after ? 'content'
            THEN 'restored'
        WHEN p_after ->> 'merged_into' IS NOT NULL THEN 'merged'
        WHEN p_after ->> 'superseded_by' IS NOT NULL THEN 'superseded'
        WHEN p_after ->> 'status' = 'archived' AND p_before ->> 'status' IS DISTINCT FROM 'archived' THEN 'archived'
        WHEN p_before ->> 'status' = 'archived' AND p_after ->> 'status' IS DISTINCT FROM 'archived' THEN 'restored'
        WHEN p_action IN ('repeated', 'sourced') THEN 'reaffirmed'
        WHEN p_action = 'linked' THEN 'linked'
        WHEN p_action IN ('conflict', 'decided') THEN 'disputed'
        ELSE 'changed'
    END
$$;
