-- The jobs of days, of retention and of curation. Curation runs only where it is switched on in the settings.
INSERT INTO slowwave.maintenance_jobs (id, job_type, cadence, interval_minutes, window_start, window_end) VALUES
    ('finalize-days', 'finalize_days', 'interval', 720, NULL, NULL),
    ('retention', 'retention', 'daily', NULL, '04:00', '05:00'),
    ('curation', 'curate', 'daily', NULL, '05:00', '06:00');
