import { useQuery } from "@tanstack/react-query";
import { ApiError, fetchJson, fetchRaw, path, withQuery } from "../api/client";
import type { Entity, EntityPart, Form, Schemas, Task } from "../api/types";
import { unservedBy } from "../api/unserved";
import { shortName, useTitles } from "../components/useTitles";

const base = "/api/scaffolder/v2";

// Opened is a form and its ETag.
export type Opened = { form: Form; etag: string };

// Prefill names the resource that prefills a form, and the field of the resource to begin with.
export type Prefill = { name?: string; namespace?: string; cluster?: string; field?: string };

// openForm loads the form of a Template. A Template that does not support prefilling is loaded without it.
export async function openForm(namespace: string, name: string, prefill: Prefill, signal?: AbortSignal): Promise<Opened> {
  const at = `${path(`${base}/templates`, namespace, "template", name)}/parameter-schema`;
  try {
    return await readForm(withQuery(at, prefill.name ? prefill : {}), signal);
  } catch (err) {
    if (prefill.name && err instanceof ApiError && err.status === 400 && err.message.includes("does not update anything")) {
      return readForm(at, signal);
    }
    throw err;
  }
}

async function readForm(at: string, signal?: AbortSignal): Promise<Opened> {
  const answer = await fetchRaw(at, { headers: { Accept: "application/json" }, signal });
  return { form: (await answer.json()) as Form, etag: answer.headers.get("ETag") ?? "" };
}

export function useForm(namespace: string, name: string, prefill: Prefill) {
  return useQuery({
    queryKey: ["form", namespace, name, prefill],
    queryFn: ({ signal }) => openForm(namespace, name, prefill, signal),
    // An open form does not change; on submit, the page checks for a new version.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
}

export function useTemplate(namespace: string, name: string) {
  return useQuery({
    queryKey: ["template", namespace, name],
    queryFn: ({ signal }) => fetchJson<Entity>(path("/api/catalog/entities/by-name", "template", namespace, name), { signal }),
    staleTime: 60_000,
    // A locked form unlocks without a reload.
    refetchInterval: (query) => (query.state.data && unservedBy(query.state.data).length > 0 ? 5_000 : false),
  });
}

// The fields that cards show: whole Templates can be very large.
const cardFields = ["kind", "metadata.name", "metadata.namespace", "metadata.title", "metadata.description", "metadata.tags", "metadata.annotations", "spec.type", "spec.owner"];

export function useTemplates() {
  return useQuery({
    queryKey: ["templates"],
    queryFn: ({ signal }) => fetchJson<EntityPart[]>(withQuery(`${base}/templates`, { fields: cardFields.join(",") }), { signal }),
    staleTime: 30_000,
  });
}

// useTitleOf returns a function that returns the title of an entity, such as a group that owns Templates.
export function useTitleOf(refs: string[]): (ref: string) => string {
  const titles = useTitles(refs);
  return (ref) => titles.get(ref)?.title ?? shortName(ref);
}

// DryRunResult is the response of a dry run.
export type DryRunResult = { log: { body: Schemas["TaskEventBody"] }[]; steps: Schemas["TaskStep"][]; output: Record<string, unknown>; changes: Schemas["TriedChange"][] };

// runDryRun runs a Template without changing anything.
export function runDryRun(template: Entity, values: unknown, signal?: AbortSignal): Promise<DryRunResult> {
  const { apiVersion, kind, metadata, spec } = template;
  return fetchJson<DryRunResult>(`${base}/dry-run`, { json: { template: { apiVersion, kind, metadata, spec }, values }, signal });
}

export function createTask(templateRef: string, values: unknown, secrets: Record<string, string>): Promise<{ id: string }> {
  const some = Object.keys(secrets).length > 0;
  return fetchJson(`${base}/tasks`, { json: { templateRef, values, ...(some ? { secrets } : {}) } });
}

// writable returns the names of the clusters that steps can write to.
export async function writable(signal?: AbortSignal): Promise<string[]> {
  const { results } = await fetchJson<{ results: { id: string }[] }>(`${base}/autocomplete/cluster/clusters`, { json: {}, signal });
  return results.map((r) => r.id);
}

export type TaskFilter = { status: string[]; template: string[]; page: number };
export type TaskList = { tasks: Task[]; totalTasks: number };

// tasksPerPage is the page size of the task list.
export const tasksPerPage = 25;

export function useTasks(filter: TaskFilter) {
  return useQuery({
    queryKey: ["tasks", filter],
    queryFn: ({ signal }) =>
      fetchJson<TaskList>(withQuery(`${base}/tasks`, { status: filter.status, templateRef: filter.template, limit: tasksPerPage, offset: filter.page * tasksPerPage || undefined, order: "desc:created_at" }), { signal }),
    // Running tasks are refreshed more often.
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
