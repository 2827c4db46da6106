import { parseRef } from "../api/entity";
import type { Task } from "../api/types";
import { texts } from "../text";
import { isOver } from "./queries";

export function templateOf(task: Task): string {
  return task.spec.templateInfo?.entityRef ?? "";
}

// templateTitle returns the title of a task's Template.
export function templateTitle(task: Task): string {
  const title = (task.spec.templateInfo?.entity as { metadata?: { title?: unknown } } | undefined)?.metadata?.title;
  return typeof title === "string" && title !== "" ? title : parseRef(templateOf(task)).name;
}

// labelOf names a task by its Template and resource.
export function labelOf(task: Task): string {
  const name = (task.spec.parameters as Record<string, unknown>)["name"];
  const what = templateTitle(task) || texts.create.tasks.unnamed;
  return typeof name === "string" && name !== "" ? `${what} ${name}` : what;
}

// tookOf returns how long a finished task took, in milliseconds.
export function tookOf(task: Task): number | undefined {
  return isOver(task.status) && task.lastHeartbeatAt ? Date.parse(task.lastHeartbeatAt) - Date.parse(task.createdAt) : undefined;
}
