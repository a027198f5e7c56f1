-- The jobs that every installation has. next_due_at stays NULL: the first tick computes it, so that a fresh installation
-- begins with its next window and not with a run for the past.
INSERT INTO slowwave.maintenance_jobs (id, job_type, cadence, weekday, window_start, window_end, metadata) VALUES
    ('light-10', 'consolidate_light', 'daily', NULL, '10:00', '11:00', '{}'),
    ('light-15', 'consolidate_light', 'daily', NULL, '15:00', '16:00', '{}'),
    ('deep-weekly', 'consolidate_deep', 'weekly', 6, '03:00', '06:00', '{}');
