-- The words in braces are replaced for each database engine in migrate.go.

-- The fields of an entity in one string, in the format of packed.go. They replace the
-- index of search by reference.
CREATE TABLE fields (
  ref    {{.Text}} NOT NULL PRIMARY KEY,
  packed {{.Text}} NOT NULL
) {{.Clustered}};
{{.Unpacked}}

-- Values that contain a separator of packed fields are no longer indexed.
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
-- Relations that an entity declares have it as source, and their inverses have it as
-- target, so the primary key finds them.
DROP INDEX relations_declarer;
