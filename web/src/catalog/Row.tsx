import { memo } from "react";
import { Anchor, Skeleton, Text } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations, entityPath, refOf, specText, templatePath, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { EntityIcon } from "../components/EntityIcon";
import { Status } from "../components/Status";
import { Tag } from "../components/Tag";
import { texts } from "../text";
import { isProduct } from "./products";
import styles from "./Table.module.css";

// inOrder moves source tags, which say where an entity comes from, to the end.
function inOrder(tags: string[]): string[] {
  return [...tags].sort((a, b) => Number(a.startsWith("source:")) - Number(b.startsWith("source:")));
}

type Props = {
  entity: EntityPart | undefined;
  reachable: boolean;
  // parts are the API and the definition of a product, if the table is folded.
  parts: EntityPart[];
  // owner and system are titles, or empty.
  owner: string;
  ownerRef: string;
  system: string;
  systemRef: string;
};

// Row renders the cells of an entity. Only one row is in the tab order; the arrow keys reach the others.
export const Row = memo(function Row({ entity, reachable, parts, owner, ownerRef, system, systemRef }: Props) {
  if (!entity) {
    return (
      <div role="gridcell" className={styles.cell}>
        <Skeleton height={14} width="60%" aria-label={texts.components.loading} />
      </div>
    );
  }
  const ref = refOf(entity);
  const title = titleOf(entity);
  const name = entity.metadata?.name ?? "";
  const tags = entity.metadata?.tags ?? [];
  const type = specText(entity, "type");
  return (
    <>
      <div role="gridcell" className={styles.cell}>
        <div className={styles.name}>
          <EntityIcon entity={entity} />
          <div className={styles.words}>
            <Anchor component={Link} to={entityPath(ref)} tabIndex={reachable ? 0 : -1} fw={500} size="sm" className={styles.title} data-row-link>
              {title}
            </Anchor>
            <Text size="xs" c="dimmed" component="div" className={styles.narrow}>
              <span>{[entity.kind, owner].filter(Boolean).join(" · ")}</span>
              <ShownStatus entity={entity} />
            </Text>
            {title.toLowerCase() !== name.toLowerCase() && (
              <Text size="xs" c="dimmed" component="div" className={styles.under}>
                {name}
              </Text>
            )}
            {parts.length > 0 && <Parts product={entity} parts={parts} reachable={reachable} />}
          </div>
        </div>
      </div>
      <Cell text={entity.kind ?? ""} column="kind" />
      <Cell text={type} column="type" />
      <div role="gridcell" className={styles.cell} data-column="status">
        <div className={styles.status}>
          <ShownStatus entity={entity} />
        </div>
      </div>
      <Cell text={owner} title={ownerRef} column="owner" />
      <Cell text={system} title={systemRef} column="system" />
      <Cell text={inOrder(tags).join(", ")} column="tags" />
      <Cell text={annotation(entity, annotations.discoveredFrom)} column="cluster" />
    </>
  );
});

// ShownStatus shows the readiness of an entity, and whether it could not be read lately.
function ShownStatus({ entity }: { entity: EntityPart }) {
  const stale = annotation(entity, annotations.stale);
  return (
    <>
      <Status entity={entity} />
      {stale !== "" && (
        <Tag tone="warning" title={stale}>
          {texts.catalog.stale}
        </Tag>
      )}
    </>
  );
}

function Cell({ text, title, column }: { text: string; title?: string; column: string }) {
  return (
    <div role="gridcell" className={styles.cell} data-column={column} title={title || undefined}>
      {text}
    </div>
  );
}

// Parts links to the form, API and definition of a product.
function Parts({ product, parts, reachable }: { product: EntityPart; parts: EntityPart[]; reachable: boolean }) {
  const apis = parts.filter((p) => p.kind === "API");
  const links = [
    ...(isProduct(product) ? [{ to: templatePath(refOf(product)), label: texts.catalog.form }] : []),
    ...parts.map((p) => ({
      to: entityPath(refOf(p)),
      label: p.kind !== "API" ? texts.catalog.definition : apis.length > 1 ? texts.catalog.apiVersion(annotation(p, annotations.xrdVersion)) : texts.catalog.api,
    })),
  ];
  return (
    <div className={styles.parts} role="group" aria-label={texts.catalog.parts(titleOf(product))}>
      {links.map(({ to, label }) => (
        <Anchor key={to} component={Link} to={to} size="xs" tabIndex={reachable ? 0 : -1}>
          {label}
        </Anchor>
      ))}
    </div>
  );
}
