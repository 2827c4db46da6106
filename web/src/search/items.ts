import { entityPath, parseRef, refOf, templatePath, titleOf } from "../api/entity";
import type { EntityPart, Task } from "../api/types";
import { iconOf } from "../components/entityIcon";
import type { IconName } from "../components/Icon";
import { texts } from "../text";
import { documentEntity, type Document } from "./queries";

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

const pages: { to: string; label: string; icon: IconName }[] = [
  { to: "/", label: texts.app.home, icon: "home" },
  { to: "/catalog", label: texts.app.catalog, icon: "catalog" },
  { to: "/catalog?mine=true", label: texts.catalog.mine, icon: "user" },
  { to: "/create", label: texts.app.create, icon: "create" },
  { to: "/tasks", label: texts.app.tasks, icon: "tasks" },
  { to: "/ingestion", label: texts.app.ingestion, icon: "ingestion" },
  { to: "/playground", label: texts.app.playground, icon: "playground" },
];

// pageItems returns the pages whose name contains every word of the term.
export function pageItems(term: string): Item[] {
  return pages.filter((p) => matches(p.label, term)).map((p) => ({ id: p.to, group: "pages", ...p }));
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
    detail: [d.kind, d.type].filter(Boolean).join(" · "),
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

// taskTitle returns the title of the Template of a task, and what the task is about.
export function taskTitle(task: Task): string {
  const info = task.spec.templateInfo as { entityRef?: string; entity?: { metadata?: { title?: string } } } | undefined;
  const template = info?.entity?.metadata?.title ?? (info?.entityRef ? parseRef(info.entityRef).name : task.id);
  const parameters = task.spec.parameters as Record<string, unknown> | undefined;
  const name = parameters?.name ?? parameters?.xrName;
  return typeof name === "string" && name !== "" ? `${template}: ${name}` : template;
}

export function taskItems(tasks: Task[], term: string): Item[] {
  return tasks
    .filter((t) => matches(taskTitle(t), term))
    .slice(0, 5)
    .map((t) => ({ id: `task:${t.id}`, group: "tasks", icon: "tasks", label: taskTitle(t), detail: t.status, to: `/tasks/${encodeURIComponent(t.id)}` }));
}
