import type { ReactNode } from "react";
import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations, formatRef, refOf, specText, templatePath, titleOf } from "../api/entity";
import type { Entity } from "../api/types";
import { iconOf } from "../components/entityIcon";
import { IconText } from "../components/IconText";
import { Name } from "../components/Name";
import { RefLink } from "../components/RefLink";
import { Tag } from "../components/Tag";
import { texts } from "../text";
import { apiPath } from "./Actions";
import { Box } from "./Box";
import { objectOf } from "./facts";
import { definitionOf, versionOf } from "./queries";
import { useProduct } from "./product";
import styles from "./Entity.module.css";

const words = texts.entity.about;

type Fact = [name: string, value: ReactNode];

// About shows what an entity is: who owns it, what it belongs to, and where it runs.
export function About({ entity }: { entity: Entity }) {
  const { metadata } = entity;
  const object = objectOf(entity);
  const tags = metadata.tags ?? [];
  const facts: Fact[] = [
    ...owners(entity),
    [words.lifecycle, specText(entity, "lifecycle")],
    ...useProductFacts(entity),
    [words.version, versionOf(entity)],
    [words.object, object && [object.kind, object.name].filter(Boolean).join(" ")],
    [words.namespace, object?.namespace],
    [words.cluster, annotation(entity, annotations.discoveredFrom)],
    [words.ref, <Name key="ref">{formatRef(refOf(entity))}</Name>],
    [
      words.tags,
      tags.length > 0 && (
        <Group gap={4}>
          {tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </Group>
      ),
    ],
  ];
  return (
    <Box title={words.title}>
      {metadata.description && (
        <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
          {metadata.description}
        </Text>
      )}
      <Facts facts={facts} />
    </Box>
  );
}

// Facts is a list of names and values. Facts without value are left out.
export function Facts({ facts, className = "" }: { facts: Fact[]; className?: string }) {
  return (
    <dl className={`${styles.facts} ${className}`}>
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

// ownerless are the kinds without owner.
const ownerless = ["group", "user", "location"];

function owners(entity: Entity): Fact[] {
  const namespace = entity.metadata.namespace ?? "default";
  const [owner, system] = [specText(entity, "owner"), specText(entity, "system")];
  const none = !ownerless.includes(entity.kind.toLowerCase()) && (
    <Text span inherit c="dimmed">
      {words.noOwner}
    </Text>
  );
  return [
    [words.owner, owner === "" ? none : <RefLink to={owner} kind="group" namespace={namespace} icon checked />],
    [words.system, system !== "" && <RefLink to={system} kind="system" namespace={namespace} icon checked />],
  ];
}

// useProductFacts returns the links to the other entities of a definition: the definition itself, its form and its API.
function useProductFacts(entity: Entity): Fact[] {
  const { definition, create, api } = useProduct(entity);
  const here = formatRef(refOf(entity));
  const others = (e: typeof definition) => e !== undefined && formatRef(refOf(e)) !== here;
  return [
    [words.definition, definition ? others(definition) && <RefLink to={formatRef(refOf(definition))} icon /> : definitionOf(entity)],
    [
      words.form,
      create && entity.kind !== "Template" && (
        <Anchor component={Link} to={templatePath(refOf(create))} inherit>
          <IconText icon={iconOf(create)}>{titleOf(create)}</IconText>
        </Anchor>
      ),
    ],
    [
      words.api,
      api && others(api) && (
        <Anchor component={Link} to={apiPath(api)} inherit>
          <IconText icon="api">{titleOf(api)}</IconText>
        </Anchor>
      ),
    ],
  ];
}
