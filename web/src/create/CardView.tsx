import { Anchor, Group, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import { templatePath } from "../api/entity";
import { EntityIcon } from "../components/EntityIcon";
import { Icon } from "../components/Icon";
import { RefLink } from "../components/RefLink";
import { Tag } from "../components/Tag";
import { StarButton } from "../settings/StarButton";
import { texts } from "../text";
import type { Card, Version } from "./cards";
import styles from "./Cards.module.css";

const words = texts.create.cards;

// firstLine returns the first paragraph of a description as one line.
function firstLine(text: string): string {
  return text.trim().split(/\n\s*\n/)[0]!.replace(/\s+/g, " ");
}

// CardView is the card of a Template: the whole card is a link to its form.
export function CardView({ card, withGroup, titleOf }: { card: Card; withGroup: boolean; titleOf: (ref: string) => string }) {
  const description = firstLine(card.description);
  return (
    <article className={styles.card}>
      <div className={styles.head}>
        <EntityIcon entity={card.entity} size={32} />
        <div className={styles.name}>
          <Title order={2} size="h4">
            <Anchor component={Link} to={templatePath(card)} className={styles.main} inherit c="inherit" underline="never">
              {card.title}
            </Anchor>
          </Title>
          {withGroup && card.group !== "" && (
            <Text size="xs" c="dimmed" className={styles.group}>
              {card.group}
            </Text>
          )}
        </div>
        <span className={styles.star}>
          <StarButton entityRef={`template:${card.namespace}/${card.name}`} subject={card.title} />
        </span>
      </div>
      {description !== "" && (
        <Text size="sm" c="dimmed" className={styles.text}>
          {description}
        </Text>
      )}
      <States card={card} />
      {card.versions.length > 1 && <Versions versions={card.versions} title={card.title} />}
      <div className={styles.foot}>
        {card.owner !== "" && (
          <span className={styles.fact} title={words.owner}>
            <Icon name="group" size={14} />
            <span className={styles.above}>
              <RefLink to={card.owner}>{titleOf(card.owner)}</RefLink>
            </span>
          </span>
        )}
        {card.clusters.length > 0 && (
          <span className={styles.fact} title={words.clusters(card.clusters)}>
            <Icon name="cluster" size={14} />
            <span>{words.someClusters(card.clusters)}</span>
          </span>
        )}
      </div>
    </article>
  );
}

function States({ card }: { card: Card }) {
  if (card.purpose === "create" && card.unserved.length === 0 && !card.deprecated) {
    return null;
  }
  return (
    <Group gap={8}>
      {card.purpose !== "create" && <Tag tone="warning">{card.purpose}</Tag>}
      {card.deprecated && <Tag tone="warning">{words.deprecated}</Tag>}
      {card.unserved.length > 0 && <Tag tone="error">{words.unserved(card.unserved)}</Tag>}
    </Group>
  );
}

// Versions links to the forms of the versions of a definition; the card itself opens the first.
function Versions({ versions, title }: { versions: Version[]; title: string }) {
  return (
    <Group gap={4} role="group" aria-label={words.versionsOf(title)} className={styles.above}>
      {versions.map((v) => (
        <Link key={v.name} to={templatePath(v)} className={styles.version} aria-label={words.version(title, v.version, v.deprecated)}>
          {v.version}
          {v.deprecated && ` ${words.deprecatedNote}`}
        </Link>
      ))}
    </Group>
  );
}
