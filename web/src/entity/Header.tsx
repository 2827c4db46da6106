import { Anchor, Group } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations, entityPath, refOf, specText, titleOf } from "../api/entity";
import { readinessOf, readinessTitle } from "../api/readiness";
import type { Entity } from "../api/types";
import type { Crumb } from "../components/Breadcrumbs";
import { ReadinessTag } from "../components/ReadinessTag";
import { Tag } from "../components/Tag";
import { texts } from "../text";
import { readinessNow, roleOf } from "./facts";
import { roleTitle } from "./roles";
import { definitionOf, isMissing, useResourceStatus } from "./queries";
import { useProduct } from "./product";

const words = texts.entity.header;

// listed returns the catalog path for a kind and type.
export function listed(kind: string, type?: string): string {
  return `/catalog?${new URLSearchParams(type ? { kind, type } : { kind }).toString()}`;
}

// useTrail returns the pages above an entity: the catalog, and the definition that it belongs to or its kind.
export function useTrail(entity: Entity): Crumb[] {
  const belongs = entity.kind !== "Template" && roleOf(entity) !== "definition" && definitionOf(entity) !== "";
  const { definition, create } = useProduct(entity);
  const catalog: Crumb = { label: texts.app.catalog, to: "/catalog" };
  if (belongs && definition) {
    return [catalog, { label: titleOf(create ?? definition), to: entityPath(refOf(definition)) }];
  }
  const type = roleOf(entity) ? specText(entity, "type") : undefined;
  return [catalog, { label: roleTitle(entity), to: listed(entity.kind, type) }];
}

// Lead shows kind, type, readiness and staleness.
export function Lead({ entity }: { entity: Entity }) {
  const readiness = useShownReadiness(entity);
  const stale = annotation(entity, annotations.stale) !== "";
  const type = specText(entity, "type");
  const role = roleOf(entity);
  return (
    <Group gap="xs" component="span">
      <span style={{ overflowWrap: "anywhere" }}>
        {!role && (
          <Anchor component={Link} to={listed(entity.kind)} c="dimmed" underline="hover" title={words.allOfKind(entity.kind)}>
            {entity.kind}
          </Anchor>
        )}
        {!role && type !== "" && " · "}
        {type !== "" && (
          <Anchor component={Link} to={listed(entity.kind, type)} c="dimmed" underline="hover" title={words.allOfType(type)}>
            {role ? roleTitle(entity) : type}
          </Anchor>
        )}
      </span>
      {readiness && (
        <ReadinessTag value={readiness.value}>
          {readiness.lastKnown === "" ? readinessTitle(readiness.value) : words.lastKnown(readinessTitle(readiness.value), readinessTitle(readiness.lastKnown))}
        </ReadinessTag>
      )}
      {stale && <Tag tone="warning">{words.stale}</Tag>}
    </Group>
  );
}

// useShownReadiness returns the readiness of a resource as its cluster reports it now, or as the catalog has it. While the
// cluster does not answer, it is unknown.
function useShownReadiness(entity: Entity) {
  const known = readinessOf(entity);
  const { data, error, problem, connected } = useResourceStatus(entity);
  if (!known || problem || (error && !isMissing(error))) {
    return known && { value: "unknown" as const, lastKnown: known.value === "unknown" ? known.lastKnown : known.value };
  }
  const now = connected && data ? readinessNow(data) : "none";
  if (now !== "none") {
    return { value: now, lastKnown: "" };
  }
  return known;
}
