import type { ReactNode } from "react";
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { annotation, annotations, formatRef, refOf, specText } from "../api/entity";
import type { Entity } from "../api/types";
import { Icon } from "../parts/Icon";
import { RefLink } from "../parts/Ref";
import { Tag } from "../parts/Tag";
import { Time } from "../parts/Time";
import { Box } from "./Box";
import { madeOf, safeUrl, thingOf } from "./facts";
import { definitionOf, useFamily, versionOf } from "./queries";
import { Relations } from "./Relations";
import { Warning } from "./Warning";
import styles from "./Entity.module.css";

// Overview is what one wants to know at first.
export function Overview({ entity }: { entity: Entity }) {
  const stale = annotation(entity, annotations.stale);
  return (
    <Stack gap="md">
      {stale !== "" && (
        <Warning title="This may be out of date">
          <Text size="sm">
            {`What could not be read of late: ${stale}. Last known `}
            <Time at={annotation(entity, annotations.staleSince)} />. It is put right with the next reading that succeeds.
          </Text>
        </Warning>
      )}
      <div className={styles.columns}>
        <Stack gap="md">
          <About entity={entity} />
          <Links entity={entity} />
        </Stack>
        <Stack gap="md">
          <Relations entity={entity} />
        </Stack>
      </div>
      <Notes entity={entity} />
    </Stack>
  );
}

function About({ entity }: { entity: Entity }) {
  const { metadata } = entity;
  const namespace = metadata.namespace ?? "default";
  const thing = thingOf(entity);
  const tags = metadata.tags ?? [];
  const definition = definitionOf(entity);
  const system = specText(entity, "system");
  const owner = specText(entity, "owner");
  const facts: [string, ReactNode][] = [
    ["Name", metadata.name],
    ["Namespace", namespace],
    ["Kind", entity.kind],
    ["Type", specText(entity, "type")],
    ["Owner", owner && <RefLink to={owner} kind="group" namespace={namespace} />],
    ["System", system && <RefLink to={system} kind="system" namespace={namespace} />],
    ["Lifecycle", specText(entity, "lifecycle")],
    ["Definition", definition && <Definition name={definition} />],
    ["Version", versionOf(entity)],
    ["Object", thing && [thing.kind, thing.name].filter(Boolean).join(" ")],
    ["In namespace", thing?.namespace],
    ["Cluster", annotation(entity, annotations.discoveredFrom)],
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

// Definition links to the Resource that stands for the definition, where there is one.
function Definition({ name }: { name: string }) {
  const family = useFamily(name);
  const found = family.data?.find((e) => madeOf(e) === "definition");
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
  const links = [...(entity.metadata.links ?? []), ...(view === "" ? [] : [{ url: view, title: "Where it was found" }])];
  if (links.length === 0) {
    return null;
  }
  return (
    <Box title="Links">
      <ul className={styles.list}>
        {links.map((link, i) => {
          const to = safeUrl(link.url);
          return (
            <li key={i}>
              {to === undefined ? (
                <Text size="sm" component="span" title="This is no address of a page, so it is not a link">
                  {link.title || link.url}
                </Text>
              ) : (
                <Anchor href={to} target="_blank" rel="noopener noreferrer" size="sm" title={to} style={{ overflowWrap: "anywhere" }}>
                  {link.title || link.url} <Icon name="external" size={12} />
                </Anchor>
              )}
            </li>
          );
        })}
      </ul>
    </Box>
  );
}

// Notes are the annotations and labels, for those who want to know exactly.
function Notes({ entity }: { entity: Entity }) {
  const groups: [string, Record<string, string> | undefined][] = [
    ["Annotations", entity.metadata.annotations],
    ["Labels", entity.metadata.labels],
  ];
  return (
    <>
      {groups.map(([title, notes]) =>
        notes && Object.keys(notes).length > 0 ? (
          <Box key={title} title={title}>
            <dl className={`${styles.facts} ${styles.notes}`}>
              {Object.entries(notes)
                .sort(([a], [b]) => a.localeCompare(b))
                .map(([key, value]) => (
                  <Fact key={key} name={key}>
                    {value}
                  </Fact>
                ))}
            </dl>
          </Box>
        ) : null,
      )}
    </>
  );
}
