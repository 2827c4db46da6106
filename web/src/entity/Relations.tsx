import { useState } from "react";
import { Button, Stack, Text, Title } from "@mantine/core";
import { parseRef } from "../api/entity";
import type { Entity } from "../api/types";
import { RefLink } from "../components/RefLink";
import { Box } from "./Box";
import { useMissing } from "./queries";
import { groupRelations, type Group } from "./groupRelations";
import styles from "./Entity.module.css";

// few is the number of relations of a type shown at first; step is how many are added.
const few = 8;
const step = 100;

// Relations lists the relations of an entity by type.
export function Relations({ entity }: { entity: Entity }) {
  const groups = groupRelations(entity);
  return (
    <Box title="Relations">
      {groups.length === 0 ? (
        <Text size="sm" c="dimmed">
          No relations. Relations come from fields such as owner, system and dependsOn.
        </Text>
      ) : (
        groups.map((group) => <Related key={group.type} group={group} />)
      )}
    </Box>
  );
}

// Absent is a reference to a missing entity.
export function Absent({ to }: { to: string }) {
  const { namespace, name } = parseRef(to);
  return (
    <span title={to}>
      {namespace === "default" ? name : `${namespace}/${name}`}{" "}
      <Text component="span" size="xs" c="dimmed">
        (not in the catalog)
      </Text>
    </span>
  );
}

function Related({ group }: { group: Group }) {
  const [shown, setShown] = useState(few);
  const left = group.refs.length - shown;
  const missing = useMissing(group.refs.slice(0, shown));
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        {group.refs.length > few ? `${group.title} (${group.refs.length.toLocaleString("en")})` : group.title}
      </Title>
      <ul className={styles.list}>
        {group.refs.slice(0, shown).map((ref) => (
          <li key={ref} className={styles.related}>
            {missing.has(ref) ? <Absent to={ref} /> : <RefLink to={ref} />}
            <Text component="span" size="xs" c="dimmed">
              {parseRef(ref).kind}
            </Text>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" style={{ alignSelf: "flex-start" }} onClick={() => setShown(shown + step)}>
          {`Show ${Math.min(left, step)} more`}
        </Button>
      )}
    </Stack>
  );
}
