import { useQuery } from "@tanstack/react-query";
import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import { fetchJson } from "../api/client";
import { annotations, formatRef, refOf, titleOf } from "../api/entity";
import { readinessOf } from "../api/readiness";
import type { Entity, EntityPart } from "../api/types";
import { ReadinessTag } from "../components/ReadinessTag";
import { RefLink } from "../components/RefLink";
import { texts } from "../text";
import { Box } from "./Box";
import { annotationFields, definitionOf } from "./queries";
import styles from "./Entity.module.css";

const words = texts.entity.resources;

// few is the number of resources shown.
const few = 8;

const fields = ["kind", "metadata.name", "metadata.namespace", "metadata.title", "spec.readiness", ...annotationFields(annotations.stale)];

// useResources loads the first resources of a definition, and how many there are.
function useResources(definition: string) {
  return useQuery({
    queryKey: ["resources", definition],
    queryFn: ({ signal }) => {
      const of = { $any: annotationFields(annotations.xrdName).map((field) => ({ [field]: definition })) };
      const query = { $all: [of, { "spec.type": { $in: ["composer-xr", "crossplane-xr"] } }] };
      return fetchJson<{ items: EntityPart[]; totalItems: number }>("/api/catalog/entities/by-query", { json: { limit: few, fields, query }, signal });
    },
    enabled: definition !== "",
    refetchInterval: 15_000,
  });
}

// Resources lists the resources of a definition with their readiness.
export function Resources({ entity }: { entity: Entity }) {
  const { data } = useResources(definitionOf(entity));
  if (!data || data.items.length === 0) {
    return null;
  }
  return (
    <Box title={words.title(data.totalItems)}>
      <ul className={styles.list}>
        {data.items.map((e) => {
          const readiness = readinessOf(e)?.value;
          return (
            <li key={formatRef(refOf(e))} className={styles.spread}>
              <RefLink to={formatRef(refOf(e))} icon>
                {titleOf(e)}
              </RefLink>
              {readiness && <ReadinessTag value={readiness} />}
            </li>
          );
        })}
      </ul>
      {data.totalItems > data.items.length && (
        <Text size="sm">
          <Anchor component={Link} to="?tab=graph&view=list" inherit>
            {words.all(data.totalItems)}
          </Anchor>
        </Text>
      )}
    </Box>
  );
}
