-- What the words in braces mean for each engine is in migrate.go.

-- The fields of an entity in one text, as packed.go says, in place of an index of
-- search by reference.
CREATE TABLE fields (
  ref    {{.Text}} NOT NULL PRIMARY KEY,
  packed {{.Text}} NOT NULL
) {{.Clustered}};
{{.Unpacked}}

-- The characters that separate fields are not indexed any more.
DELETE FROM search WHERE value LIKE '%' || {{.Char}}(29) || '%' OR value LIKE '%' || {{.Char}}(30) || '%'
  OR value LIKE '%' || {{.Char}}(31) || '%';

INSERT INTO fields (ref, packed)
SELECT ref, string_agg(part, '' ORDER BY kid) FROM (
  SELECT ref, kid,
    string_agg(CASE WHEN value = {{.Char}}(1114111) THEN {{.Char}}(30) || '-' || kid || {{.Char}}(31) || {{.Char}}(29)
      ELSE {{.Char}}(30) || kid || {{.Char}}(31) || value || {{.Char}}(29) || coalesce(original, '') END, '' ORDER BY value)
    || CASE WHEN count(CASE WHEN value <> {{.Char}}(1114111) THEN 1 END) > 1
      THEN {{.Char}}(30) || '+' || kid || {{.Char}}(31) || max(CASE WHEN value <> {{.Char}}(1114111) THEN value END) || {{.Char}}(29)
      ELSE '' END AS part
  FROM search GROUP BY ref, kid) keyed
GROUP BY ref;

DROP INDEX search_ref;
-- What an entity declares begins at it, and ends there the other way round.
DROP INDEX relations_declarer;
