-- await_changes: keep a tenant's changes announced for a while, and return the channel that announces them.
--
-- A NOTIFY makes commits wait for each other, so a change announces itself only while somebody listens. A listener calls
-- this function again before p_seconds end. All listeners of a tenant share one channel, whose name tells strangers
-- nothing.
CREATE OR REPLACE FUNCTION slowwave.await_changes(p_tenant text, p_seconds double precision) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_channel text;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    INSERT INTO slowwave.change_listeners AS l (tenant, until)
    VALUES (p_tenant, clock_timestamp() + make_interval(secs => least(p_seconds, 3600)))
    ON CONFLICT (tenant) DO UPDATE SET until = greatest(l.until, excluded.until)
    RETURNING l.channel INTO v_channel;
    RETURN v_channel;
END
$$;
