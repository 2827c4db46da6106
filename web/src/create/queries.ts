import { useQuery } from "@tanstack/react-query";
import { ApiError, ask, askRaw, path, withQuery } from "../api/client";
import type { Entity, EntityPart, Form, Schemas, Task } from "../api/types";
import { unservedBy } from "../api/unserved";

const base = "/api/scaffolder/v2";

// Opened is a form, and which version of it.
export type Opened = { form: Form; etag: string };

// Filling says which resource a form is filled from.
export type Filling = { name?: string; namespace?: string; cluster?: string };

// openForm asks for the form of a Template. One that fills nothing in is given as it is.
export async function openForm(namespace: string, name: string, filling: Filling, signal?: AbortSignal): Promise<Opened> {
  const at = `${path(`${base}/templates`, namespace, "template", name)}/parameter-schema`;
  try {
    return await readForm(withQuery(at, filling.name ? filling : {}), signal);
  } catch (err) {
    if (filling.name && err instanceof ApiError && err.status === 400 && err.message.includes("does not update anything")) {
      return readForm(at, signal);
    }
    throw err;
  }
}

async function readForm(at: string, signal?: AbortSignal): Promise<Opened> {
  const answer = await askRaw(at, { headers: { Accept: "application/json" }, signal });
  return { form: (await answer.json()) as Form, etag: answer.headers.get("ETag") ?? "" };
}

export function useForm(namespace: string, name: string, filling: Filling) {
  return useQuery({
    queryKey: ["form", namespace, name, filling],
    queryFn: ({ signal }) => openForm(namespace, name, filling, signal),
    // A form does not change under somebody's hands; whether it has changed is asked when it is sent.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
}

export function useTemplate(namespace: string, name: string) {
  return useQuery({
    queryKey: ["template", namespace, name],
    queryFn: ({ signal }) => ask<Entity>(path("/api/catalog/entities/by-name", "template", namespace, name), { signal }),
    staleTime: 60_000,
    // A form that is locked is unlocked without being loaded again.
    refetchInterval: (query) => (query.state.data && unservedBy(query.state.data).length > 0 ? 5_000 : false),
  });
}

// What cards show, and nothing else: a Template can be very long.
const cardFields = ["kind", "metadata.name", "metadata.namespace", "metadata.title", "metadata.description", "metadata.tags", "metadata.annotations", "spec.type", "spec.owner"];

export function useTemplates() {
  return useQuery({
    queryKey: ["templates"],
    queryFn: ({ signal }) => ask<EntityPart[]>(withQuery(`${base}/templates`, { fields: cardFields.join(",") }), { signal }),
    staleTime: 30_000,
  });
}

// Tried is what trying a Template out showed.
export type Tried = { log: { body: Schemas["TaskEventBody"] }[]; steps: Schemas["TaskStep"][]; output: Record<string, unknown>; changes: Schemas["TriedChange"][] };

// tryOut runs a Template without changing anything.
export function tryOut(template: Entity, values: unknown, signal?: AbortSignal): Promise<Tried> {
  const { apiVersion, kind, metadata, spec } = template;
  return ask<Tried>(`${base}/dry-run`, { json: { template: { apiVersion, kind, metadata, spec }, values }, signal });
}

export function createTask(templateRef: string, values: unknown, secrets: Record<string, string>): Promise<{ id: string }> {
  const some = Object.keys(secrets).length > 0;
  return ask(`${base}/tasks`, { json: { templateRef, values, ...(some ? { secrets } : {}) } });
}

// writable are the names of the clusters that steps may write to.
export async function writable(signal?: AbortSignal): Promise<string[]> {
  const { results } = await ask<{ results: { id: string }[] }>(`${base}/autocomplete/cluster/clusters`, { json: {}, signal });
  return results.map((r) => r.id);
}

export type TaskFilter = { status: string[]; template: string[]; page: number };
export type TaskList = { tasks: Task[]; totalTasks: number };

// tasksPerPage is how many tasks are listed at once.
export const tasksPerPage = 25;

export function useTasks(filter: TaskFilter) {
  return useQuery({
    queryKey: ["tasks", filter],
    queryFn: ({ signal }) =>
      ask<TaskList>(withQuery(`${base}/tasks`, { status: filter.status, templateRef: filter.template, limit: tasksPerPage, offset: filter.page * tasksPerPage || undefined, order: "desc:created_at" }), { signal }),
    // Tasks that run change by themselves.
    refetchInterval: (query) => (query.state.data?.tasks.some((t) => !isOver(t.status)) ? 3_000 : 30_000),
    placeholderData: (before) => before,
  });
}

export function taskPath(id: string): string {
  return path(`${base}/tasks`, id);
}

export function isOver(status: string): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
