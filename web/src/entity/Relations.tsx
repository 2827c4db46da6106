import { useState } from "react";
import { Button, Stack, Text, Title } from "@mantine/core";
import { specText } from "../api/entity";
import type { Entity } from "../api/types";
import { RefLink } from "../components/RefLink";
import { fullRef, useTitles } from "../components/useTitles";
import { texts } from "../text";
import { Box } from "./Box";
import { groupRelations, type Group } from "./groupRelations";
import { kindTitle } from "./roles";
import styles from "./Entity.module.css";

const words = texts.entity.relations;

// few is the number of relations of a type shown at first; step is how many are added.
const few = 8;
const step = 100;

// Relations lists the relations of an entity by type, except to its owner and system, which are in About.
export function Relations({ entity }: { entity: Entity }) {
  const groups = groupRelations(entity)
    .map((group) => ({ ...group, refs: group.refs.filter((ref) => !isAbout(entity, group.type, ref)) }))
    .filter((group) => group.refs.length > 0);
  return groups.length === 0 ? null : (
    <Box title={words.title}>
      {groups.map((group) => (
        <Related key={group.type} group={group} />
      ))}
    </Box>
  );
}

function isAbout(entity: Entity, type: string, ref: string): boolean {
  const field = type === "ownedBy" ? "owner" : type === "partOf" ? "system" : "";
  const value = field === "" ? "" : specText(entity, field);
  return value !== "" && fullRef(value, { kind: field === "owner" ? "group" : "system", namespace: entity.metadata.namespace }) === ref;
}

function Related({ group }: { group: Group }) {
  const [shown, setShown] = useState(few);
  const refs = group.refs.slice(0, shown);
  const left = group.refs.length - shown;
  const titles = useTitles(refs);
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        {group.refs.length > few ? words.counted(group.title, group.refs.length) : group.title}
      </Title>
      <ul className={styles.list}>
        {refs.map((ref) => (
          <li key={ref} className={styles.related}>
            <RefLink to={ref} icon checked />
            <Text component="span" size="xs" c="dimmed">
              {kindTitle(titles.get(ref)!.entity)}
            </Text>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" style={{ alignSelf: "flex-start" }} onClick={() => setShown(shown + step)}>
          {words.more(Math.min(left, step))}
        </Button>
      )}
    </Stack>
  );
}
