import { entityPath, refOf, templatePath, titleOf } from "../api/entity";
import type { EntityPart, Task } from "../api/types";
import { iconOf } from "../components/entityIcon";
import type { IconName } from "../components/Icon";
import { pages } from "../app/pages";
import { labelOf } from "../create/labels";
import { texts } from "../text";
import { documentEntity, kindAndType, type Document } from "./queries";

// Item is a line of the palette: where it leads to, and what the preview shows.
export type Item = {
  id: string;
  group: "pages" | "starred" | "entities" | "tasks";
  icon: IconName;
  label: string;
  detail?: string;
  to: string;
  // details is the page of the entity, if to is its form.
  details?: string;
  document?: Document;
};

const places = [...pages, { to: "/catalog?mine=true", label: texts.catalog.mine, icon: "user" as const }];

// pageItems returns the pages whose name contains every word of the term.
export function pageItems(term: string): Item[] {
  return places.filter((p) => matches(p.label, term)).map((p) => ({ id: p.to, group: "pages", ...p }));
}

function matches(text: string, term: string): boolean {
  return term
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}

// documentItem returns the line of a result. A Template that creates something opens its form.
export function documentItem(d: Document): Item {
  const entity = documentEntity(d);
  const ref = refOf(entity);
  const isForm = d.kind === "Template" && (d.purpose ?? "create") === "create";
  return {
    id: `${d.kind}:${ref.namespace}/${ref.name}`,
    group: "entities",
    icon: iconOf(entity),
    label: d.title || ref.name,
    detail: kindAndType(d),
    to: isForm ? templatePath(ref) : entityPath(ref),
    details: isForm ? entityPath(ref) : undefined,
    document: d,
  };
}

// starredItem returns the line of a starred entity.
export function starredItem(entity: EntityPart): Item {
  const ref = refOf(entity);
  const isForm = entity.kind === "Template";
  return {
    id: `starred:${ref.kind}:${ref.namespace}/${ref.name}`,
    group: "starred",
    icon: iconOf(entity),
    label: titleOf(entity),
    detail: entity.kind,
    to: isForm ? templatePath(ref) : entityPath(ref),
    details: isForm ? entityPath(ref) : undefined,
  };
}

export function taskItems(tasks: Task[], term: string): Item[] {
  return tasks
    .filter((t) => matches(labelOf(t), term))
    .slice(0, 5)
    .map((t) => ({ id: `task:${t.id}`, group: "tasks", icon: "tasks", label: labelOf(t), detail: t.status, to: `/tasks/${encodeURIComponent(t.id)}` }));
}
