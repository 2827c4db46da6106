import { useQuery } from "@tanstack/react-query";
import { Stack, Text } from "@mantine/core";
import { fetchJson } from "../api/client";
import { formatRef, refOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { NotFound } from "../components/NotFound";
import { RefLink } from "../components/RefLink";
import { texts } from "../text";
import styles from "./Entity.module.css";

const words = texts.entity.missing;

// MissingEntity is the page of an entity that is not in the catalog. It offers entities of the same name.
export function MissingEntity({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  const { data } = useQuery({
    queryKey: ["same name", name],
    queryFn: async ({ signal }) =>
      (await fetchJson<{ items: EntityPart[] }>("/api/catalog/entities/by-query", { json: { limit: 5, fields: ["kind", "metadata.name", "metadata.namespace"], query: { "metadata.name": name } }, signal })).items,
  });
  return (
    <NotFound title={words.title(kind, name)} hint={words.hint(namespace)} name={name}>
      {data && data.length > 0 && (
        <Stack gap={4}>
          <Text fw={600}>{words.sameName}</Text>
          <ul className={styles.list}>
            {data.map((e) => (
              <li key={formatRef(refOf(e))} className={styles.related}>
                <RefLink to={formatRef(refOf(e))} icon />
                <Text component="span" size="xs" c="dimmed">
                  {words.where(e.kind ?? "", refOf(e).namespace)}
                </Text>
              </li>
            ))}
          </ul>
        </Stack>
      )}
    </NotFound>
  );
}
