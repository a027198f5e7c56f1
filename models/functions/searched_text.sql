-- searched_text: split a text into words to stem and lexemes that are found exactly as they are.
--
--   words    the text for to_tsvector. The parts of names stand behind it (`/srv/jobs/tail_wrapper.sh`: srv jobs tail
--            wrapper sh; `getUserName`: get User Name; `HX-2291`: HX 2291), because the parser of Postgres keeps most
--            names whole. Characters of scripts without spaces are left out.
--   exact    names whole, without the folder, and without the folder and the ending; and from text in Han, Kana, Hangul
--            and Thai characters each pair of neighbours, and the last character of each run alone. So any one
--            character is found as the beginning of a lexeme; and emoji, without the color of skin. NULL if there are
--            none
--
-- Ordinary English prose costs one look at the text.
CREATE OR REPLACE FUNCTION slowwave.searched_text(p_text text, OUT words text, OUT exact text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_characters CONSTANT text := '[\u0e01-\u0e5b\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff'
        '\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f'
        '\U00020000-\U0003ffff]+';
    -- With the locale C, the parser takes every character beyond ASCII for a letter.
    v_marks CONSTANT text := '[\u00a0-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f'
        '\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe0f\ufe30-\ufe4f\ufffd'
        '\U0001f000-\U0001faff]+';
    -- Flags are pairs. Skin tones and variation selectors are left out, and joined emoji (a firefighter) count apart.
    v_emoji CONSTANT text := '[\U0001f1e6-\U0001f1ff]{2}|[\u231a\u231b\u23e9-\u23fa\u2600-\u2767\u2795-\u2797\u27a1\u27b0'
        '\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]';
    v_parts text;
    v_names text[];
BEGIN
    words := p_text;
    IF octet_length(words) > length(words) THEN
        words := translate(words, U&'\2019', '''');
        IF words ~ v_characters THEN
            -- Wide Latin letters and narrow Kana become ordinary ones.
            words := normalize(words, NFKC);
            SELECT array_agg(p.character || coalesce(p.next, '') ORDER BY p.run, p.place) INTO exact
            FROM (
                SELECT r.run, c.place, c.character, lead(c.character) OVER (PARTITION BY r.run ORDER BY c.place) AS next
                FROM regexp_matches(words, v_characters, 'g') WITH ORDINALITY AS r (found, run)
                CROSS JOIN string_to_table(r.found[1], NULL) WITH ORDINALITY AS c (character, place)
            ) AS p;
            words := regexp_replace(words, v_characters, ' ', 'g');
        END IF;
        IF words ~ v_emoji THEN
            exact := exact || ARRAY(SELECT DISTINCT e.found[1] FROM regexp_matches(words, v_emoji, 'g') AS e (found));
        END IF;
        words := regexp_replace(words, v_marks, ' ', 'g');
    END IF;
    IF words ~ '[[:alnum:]](?:[/\\._@#]|::|:[/\\])+[[:alnum:]]|[[:lower:]][[:upper:]]|[[:alpha:]]-[[:digit:]]' THEN
        WITH names AS MATERIALIZED (
            SELECT DISTINCT replace(n.found[1], '\', '/') AS name
            FROM regexp_matches(
                words, '[[:alnum:]]+(?:(?:[/\\._@#-]|::|:[/\\])+[[:alnum:]]+)+'
                '|[[:alnum:]]*[[:lower:]][[:upper:]][[:alnum:]]*', 'g') AS n (found)
            -- Not 3.14, 2024-05-10 or well-known, and not the text of a key.
            WHERE length(n.found[1]) <= 200 AND n.found[1] ~ '[[:alpha:]]'
              AND n.found[1] ~ '[/\\._@#:]|[[:lower:]][[:upper:]]|[[:alpha:]]-[[:digit:]]'
            LIMIT 1000
        ), wholes AS (
            SELECT n.name AS whole FROM names n
            UNION
            SELECT w.whole FROM names n
            CROSS JOIN string_to_table(n.name, '/') AS s (segment)
            CROSS JOIN LATERAL (
                VALUES (s.segment), (regexp_replace(s.segment, '\.[[:alpha:]][[:alnum:]]{0,4}$', ''))) AS w (whole)
        )
        SELECT (
            -- The parser itself splits what only underscores join.
            SELECT regexp_replace(regexp_replace(
                string_agg(n.name, ' ' ORDER BY n.name), '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
                '[^[:alnum:]]+([[:digit:]]{1,2}(?![[:alnum:]]))?', ' ', 'g')
            FROM names n WHERE n.name ~ '[^[:alnum:]_]|[[:lower:]][[:upper:]]'
        ), (SELECT array_agg(lower(w.whole) ORDER BY w.whole) FROM wholes w
            WHERE w.whole ~ '[[:alnum:]][^[:alnum:]]+[[:alnum:]]')
        INTO v_parts, v_names;
        words := concat_ws(' ', words, v_parts);
        exact := nullif(exact || v_names, '{}');
    END IF;
END
$$;
