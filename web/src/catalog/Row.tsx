import { memo } from "react";
import { Anchor, Skeleton, Text } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations, entityPath, refOf, specText, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { Tag } from "../components/Tag";
import { shortRef } from "./filter";
import { Status } from "./Status";
import styles from "./Catalog.module.css";

// inOrder moves source tags, which say where an entity comes from, to the end.
function inOrder(tags: string[]): string[] {
  return [...tags].sort((a, b) => Number(a.startsWith("source:")) - Number(b.startsWith("source:")));
}

// Row renders the cells of an entity. Only one row is in the tab order; the arrow keys reach the others.
export const Row = memo(function Row({ entity, reachable }: { entity: EntityPart | undefined; reachable: boolean }) {
  if (!entity) {
    return (
      <div role="gridcell" className={styles.cell}>
        <Skeleton height={14} width="60%" aria-label="Loading" />
      </div>
    );
  }
  const ref = refOf(entity);
  const title = titleOf(entity);
  const name = entity.metadata?.name ?? "";
  const tags = entity.metadata?.tags ?? [];
  const type = specText(entity, "type");
  const stale = annotation(entity, annotations.stale);
  const under = title !== name ? name : (entity.metadata?.description ?? "");
  return (
    <>
      <div role="gridcell" className={styles.cell}>
        <Anchor component={Link} to={entityPath(ref)} tabIndex={reachable ? 0 : -1} fw={500} size="sm" className={styles.text} title={title}>
          {title}
        </Anchor>
        <Text size="xs" c="dimmed" className={styles.text} title={under}>
          <span className={styles.narrow}>
            {[entity.kind, type].filter(Boolean).join(" · ")} <Status entity={entity} />
          </span>
          <span className={styles.wide}>{under}</span>
        </Text>
      </div>
      <Cell text={entity.kind ?? ""} />
      <Cell text={type} />
      <div role="gridcell" className={styles.cell}>
        <Status entity={entity} />
      </div>
      <Cell text={shortRef(specText(entity, "owner"))} />
      <Cell text={shortRef(specText(entity, "system"))} />
      <Cell text={inOrder(tags).join(", ")} />
      <div role="gridcell" className={styles.cell}>
        <span className={styles.text} title={annotation(entity, annotations.discoveredFrom)}>
          {annotation(entity, annotations.discoveredFrom)}
        </span>
        {stale !== "" && (
          <Tag tone="warning" title={stale}>
            stale
          </Tag>
        )}
      </div>
    </>
  );
});

function Cell({ text }: { text: string }) {
  return (
    <div role="gridcell" className={styles.cell}>
      <span className={styles.text} title={text}>
        {text}
      </span>
    </div>
  );
}
