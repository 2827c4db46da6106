import type { ReactNode } from "react";
import { Group, Paper, Stack, Text } from "@mantine/core";
import { annotation, annotations, formatRef, parseRef, refOf, specText } from "../api/entity";
import type { Entity } from "../api/types";
import { DataLink } from "../components/DataLink";
import { RefLink } from "../components/RefLink";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { Box } from "./Box";
import { Details } from "./Details";
import { roleOf, objectOf, toneOf, conditionTitle } from "./facts";
import { definitionOf, hasObject, isMissing, useConditions, useDefinitionEntities, useMissing, useResourceStatus, versionOf } from "./queries";
import { Absent, Relations } from "./Relations";
import { Notice } from "../components/Notice";
import { Why } from "./Why";
import styles from "./Entity.module.css";

// Overview is the first tab of an entity.
export function Overview({ entity }: { entity: Entity }) {
  const stale = annotation(entity, annotations.stale);
  const status = useResourceStatus(entity);
  const unknown = status.problem !== undefined || (status.isError && !isMissing(status.error));
  return (
    <Stack gap="md">
      {stale !== "" && !unknown && (
        <Notice tone="warning" title="This may be out of date">
          <Text size="sm">
            {`Cannot read ${stale}. Last read `}
            <Time at={annotation(entity, annotations.staleSince)} />. The next successful scan updates this entity.
          </Text>
        </Notice>
      )}
      {roleOf(entity) === "resource" && <Why entity={entity} linked />}
      <div className={styles.columns}>
        <Stack gap="md">
          <About entity={entity} />
          <Links entity={entity} />
          {hasObject(entity) && <Details entity={entity} />}
        </Stack>
        <Stack gap="md">
          {roleOf(entity) === "resource" && <Status entity={entity} lastKnown={unknown || stale !== ""} />}
          <Relations entity={entity} />
        </Stack>
      </div>
      <Notes entity={entity} />
    </Stack>
  );
}

// Status shows the conditions of a resource.
function Status({ entity, lastKnown }: { entity: Entity; lastKnown: boolean }) {
  const conditions = useConditions(entity);
  return (
    <Box title={lastKnown ? "Last known status" : "Status"}>
      {conditions.length === 0 ? (
        <Text size="sm" c="dimmed">
          The cluster has not reported a status yet.
        </Text>
      ) : (
        <ul className={styles.list}>
          {conditions.map((c) => (
            <li key={c.type} className={styles.status}>
              <Tag tone={lastKnown ? "plain" : toneOf[c.state]}>{`${conditionTitle(c.type)}: ${c.state}`}</Tag>
              <span>{c.state !== "True" && c.reason}</span>
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
      )}
    </Box>
  );
}

function About({ entity }: { entity: Entity }) {
  const { metadata } = entity;
  const namespace = metadata.namespace ?? "default";
  const object = objectOf(entity);
  const tags = metadata.tags ?? [];
  const definition = definitionOf(entity);
  const system = specText(entity, "system");
  const owner = specText(entity, "owner");
  const facts: [string, ReactNode][] = [
    ["Owner", owner ? <Known to={owner} kind="group" namespace={namespace} /> : owned(entity) && <Text span inherit c="dimmed">none (spec.owner is empty)</Text>],
    ["System", system && <Known to={system} kind="system" namespace={namespace} />],
    ["Lifecycle", specText(entity, "lifecycle")],
    ["Definition", definition && roleOf(entity) !== "definition" && <Definition name={definition} />],
    ["Version", versionOf(entity)],
    ["Object", object && [object.kind, object.name].filter(Boolean).join(" ")],
    ["Namespace", object?.namespace],
    ["Cluster", annotation(entity, annotations.discoveredFrom)],
    ["Entity ref", formatRef(refOf(entity))],
    [
      "Tags",
      tags.length > 0 && (
        <Group gap={6}>
          {tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </Group>
      ),
    ],
  ];
  return (
    <Box title="About">
      {metadata.description && (
        <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
          {metadata.description}
        </Text>
      )}
      <dl className={styles.facts}>
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
      </dl>
    </Box>
  );
}

// ownerless are the kinds without owner.
const ownerless = ["group", "user", "location"];

function owned(entity: Entity): boolean {
  return !ownerless.includes(entity.kind.toLowerCase());
}

// Known links to an entity, or shows that it is missing.
function Known({ to, kind, namespace }: { to: string; kind: string; namespace: string }) {
  const ref = formatRef(parseRef(to, { kind, namespace }));
  return useMissing([ref]).has(ref) ? <Absent to={ref} /> : <RefLink to={to} kind={kind} namespace={namespace} />;
}

// Definition links to the Resource entity of the definition, if it exists.
function Definition({ name }: { name: string }) {
  const family = useDefinitionEntities(name);
  const found = family.data?.find((e) => roleOf(e) === "definition");
  return found ? <RefLink to={formatRef(refOf(found))}>{name}</RefLink> : <>{name}</>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Links({ entity }: { entity: Entity }) {
  const view = annotation(entity, annotations.viewUrl);
  const links = [...(entity.metadata.links ?? []), ...(view === "" ? [] : [{ url: view, title: "Source" }])];
  if (links.length === 0) {
    return null;
  }
  return (
    <Box title="Links">
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

// Notes lists annotations and labels.
function Notes({ entity }: { entity: Entity }) {
  const groups: [string, Record<string, string> | undefined][] = [
    ["Annotations", entity.metadata.annotations],
    ["Labels", entity.metadata.labels],
  ];
  return (
    <>
      {groups.map(([title, notes]) =>
        notes && Object.keys(notes).length > 0 ? (
          <Paper key={title} withBorder component="details" p="md" className={styles.details}>
            <Text component="summary" fw={600}>
              {`${title} (${Object.keys(notes).length})`}
            </Text>
            <dl className={`${styles.facts} ${styles.notes}`}>
              {Object.entries(notes)
                .sort(([a], [b]) => a.localeCompare(b))
                .map(([key, value]) => (
                  <Fact key={key} name={key}>
                    {value}
                  </Fact>
                ))}
            </dl>
          </Paper>
        ) : null,
      )}
    </>
  );
}
