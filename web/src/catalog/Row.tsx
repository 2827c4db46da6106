import { memo } from "react";
import { Anchor, Skeleton, Text } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations, entityPath, refOf, shortRef, specText, templatePath, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { EntityIcon } from "../components/EntityIcon";
import { Status } from "../components/Status";
import { Tag } from "../components/Tag";
import { texts } from "../text";
import { isProduct } from "./products";
import styles from "./Catalog.module.css";

// inOrder moves source tags, which say where an entity comes from, to the end.
function inOrder(tags: string[]): string[] {
  return [...tags].sort((a, b) => Number(a.startsWith("source:")) - Number(b.startsWith("source:")));
}

type Props = {
  entity: EntityPart | undefined;
  reachable: boolean;
  // parts are the API and the definition of a product, if the table is folded.
  parts: EntityPart[];
};

// Row renders the cells of an entity. Only one row is in the tab order; the arrow keys reach the others.
export const Row = memo(function Row({ entity, reachable, parts }: Props) {
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
  const stale = annotation(entity, annotations.stale);
  return (
    <>
      <div role="gridcell" className={styles.cell}>
        <div className={styles.name}>
          <EntityIcon entity={entity} />
          <div className={styles.words}>
            <Anchor component={Link} to={entityPath(ref)} tabIndex={reachable ? 0 : -1} fw={500} size="sm" data-row-link>
              {title}
            </Anchor>
            <Text size="xs" c="dimmed" component="div" className={styles.narrow}>
              {[entity.kind, shortRef(specText(entity, "owner"))].filter(Boolean).join(" · ")} <Status entity={entity} />
            </Text>
            <Text size="xs" c="dimmed" component="div" className={styles.under}>
              {title.toLowerCase() !== name.toLowerCase() && name}
              {parts.length > 0 && <Parts product={entity} parts={parts} reachable={reachable} />}
            </Text>
          </div>
        </div>
      </div>
      <Cell text={entity.kind ?? ""} column="kind" />
      <Cell text={type} column="type" />
      <div role="gridcell" className={styles.cell} data-column="status">
        <Status entity={entity} />
      </div>
      <Cell text={shortRef(specText(entity, "owner"))} column="owner" />
      <Cell text={shortRef(specText(entity, "system"))} column="system" />
      <Cell text={inOrder(tags).join(", ")} column="tags" />
      <div role="gridcell" className={styles.cell} data-column="cluster">
        {annotation(entity, annotations.discoveredFrom)}{" "}
        {stale !== "" && (
          <Tag tone="warning" title={stale}>
            {texts.catalog.stale}
          </Tag>
        )}
      </div>
    </>
  );
});

function Cell({ text, column }: { text: string; column: string }) {
  return (
    <div role="gridcell" className={styles.cell} data-column={column}>
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
