-- search_configuration: return the Postgres configuration that stems the words of a language (ISO 639-1).
--
-- Chinese, Japanese, Korean and Thai are found by their characters (slowwave.searched_text). The Latin words between them
-- are mostly English. A language that Postgres does not know is not stemmed.
CREATE OR REPLACE FUNCTION slowwave.search_configuration(p_language text) RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE p_language
        WHEN 'en' THEN 'pg_catalog.english'
        WHEN 'ar' THEN 'pg_catalog.arabic'
        WHEN 'ca' THEN 'pg_catalog.catalan'
        WHEN 'da' THEN 'pg_catalog.danish'
        WHEN 'de' THEN 'pg_catalog.german'
        WHEN 'el' THEN 'pg_catalog.greek'
        WHEN 'es' THEN 'pg_catalog.spanish'
        WHEN 'et' THEN 'pg_catalog.estonian'
        WHEN 'fi' THEN 'pg_catalog.finnish'
        WHEN 'fr' THEN 'pg_catalog.french'
        WHEN 'hi' THEN 'pg_catalog.hindi'
        WHEN 'hu' THEN 'pg_catalog.hungarian'
        WHEN 'hy' THEN 'pg_catalog.armenian'
        WHEN 'id' THEN 'pg_catalog.indonesian'
        WHEN 'it' THEN 'pg_catalog.italian'
        WHEN 'ja' THEN 'pg_catalog.english'
        WHEN 'ko' THEN 'pg_catalog.english'
        WHEN 'lt' THEN 'pg_catalog.lithuanian'
        WHEN 'ne' THEN 'pg_catalog.nepali'
        WHEN 'nl' THEN 'pg_catalog.dutch'
        WHEN 'no' THEN 'pg_catalog.norwegian'
        WHEN 'pt' THEN 'pg_catalog.portuguese'
        WHEN 'ro' THEN 'pg_catalog.romanian'
        WHEN 'ru' THEN 'pg_catalog.russian'
        WHEN 'sr' THEN 'pg_catalog.serbian'
        WHEN 'sv' THEN 'pg_catalog.swedish'
        WHEN 'ta' THEN 'pg_catalog.tamil'
        WHEN 'th' THEN 'pg_catalog.english'
        WHEN 'tr' THEN 'pg_catalog.turkish'
        WHEN 'zh' THEN 'pg_catalog.english'
        ELSE 'pg_catalog.simple'
    END::regconfig
$$;
