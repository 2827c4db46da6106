import { Paper, Stack, Text } from "@mantine/core";
import { annotation, annotations } from "../api/entity";
import type { Entity } from "../api/types";
import { DataLink } from "../components/DataLink";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { texts } from "../text";
import { About, Facts } from "./About";
import { Box } from "./Box";
import { Details } from "./Details";
import { roleOf, toneOf, conditionTitle } from "./facts";
import { useOutdated } from "./Freshness";
import { hasObject, useConditions } from "./queries";
import { Relations } from "./Relations";
import { Resources } from "./Resources";
import { Why } from "./Why";
import styles from "./Entity.module.css";

const words = texts.entity.overview;

// Overview is the first tab of an entity. Cards without content are left out.
export function Overview({ entity }: { entity: Entity }) {
  const role = roleOf(entity);
  return (
    <Stack gap="md">
      {role === "resource" && <Why entity={entity} linked />}
      <div className={styles.cards}>
        {role === "resource" && <Status entity={entity} />}
        {hasObject(entity) && <Details entity={entity} />}
        <About entity={entity} />
        <Links entity={entity} />
        {role === "definition" && <Resources entity={entity} />}
        <Relations entity={entity} />
      </div>
      <Notes title={words.annotations} notes={entity.metadata.annotations} />
      <Notes title={words.labels} notes={entity.metadata.labels} />
    </Stack>
  );
}

// Status shows the conditions of a resource.
function Status({ entity }: { entity: Entity }) {
  const conditions = useConditions(entity);
  const lastKnown = useOutdated(entity) !== undefined;
  if (conditions.length === 0) {
    return null;
  }
  return (
    <Box title={lastKnown ? words.lastKnownStatus : words.status}>
      <ul className={styles.list}>
        {conditions.map((c) => (
          <li key={c.type} className={styles.status}>
            <Tag tone={lastKnown ? "plain" : toneOf[c.state]}>{`${conditionTitle(c.type)}: ${c.state}`}</Tag>
            {c.state !== "True" && c.reason && <span>{c.reason}</span>}
            {c.since && (
              <Text component="span" size="xs" c="dimmed">
                <Time at={c.since} />
              </Text>
            )}
            {c.state !== "True" && c.message && (
              <Text size="sm" c="dimmed" className={styles.message}>
                {c.message}
              </Text>
            )}
          </li>
        ))}
      </ul>
    </Box>
  );
}

function Links({ entity }: { entity: Entity }) {
  const view = annotation(entity, annotations.viewUrl);
  const links = [...(entity.metadata.links ?? []), ...(view === "" ? [] : [{ url: view, title: words.source }])];
  if (links.length === 0) {
    return null;
  }
  return (
    <Box title={words.links}>
      <ul className={styles.list}>
        {links.map((link, i) => (
          <li key={i}>
            <DataLink url={link.url} title={link.title} size="sm" />
          </li>
        ))}
      </ul>
    </Box>
  );
}

// Notes lists annotations or labels.
function Notes({ title, notes = {} }: { title: (count: number) => string; notes?: Record<string, string> }) {
  const all = Object.entries(notes).sort(([a], [b]) => a.localeCompare(b));
  if (all.length === 0) {
    return null;
  }
  return (
    <Paper withBorder component="details" p="md" className={styles.details}>
      <Text component="summary" fw={600}>
        {title(all.length)}
      </Text>
      <Facts facts={all} className={styles.notes} />
    </Paper>
  );
}
