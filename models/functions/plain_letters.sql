-- plain_letters: return a text without the accents of its letters ("Łódź, Zoë": "Lodz, Zoe").
--
-- The Cyrillic letter й stays, because it is no и with an accent. The extension unaccent would do the same for Latin
-- letters, but not every server has it, and its function is not immutable.
CREATE OR REPLACE FUNCTION slowwave.plain_letters(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN octet_length(p_text) = length(p_text) THEN p_text ELSE
        replace(replace(replace(replace(
            translate(
                normalize(regexp_replace(normalize(p_text, NFD), '(?<![Ии])[\u0300-\u036f]+', '', 'g'), NFC),
                'øØđĐłŁıðÐħĦ', 'oOdDlLidDhH'),
            'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
    END
$$;
