import { useQuery } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import { useSession } from "./session";
import { texts } from "../text";

// Permission is the name of a permission.
export type Permission =
  | "catalog.entity.delete"
  | "catalog.entity.refresh"
  | "catalog.location.create"
  | "catalog.ingestion.read"
  | "catalog.ingestion.manage"
  | "cluster.resource.read"
  | "scaffolder.template.parameter.read"
  | "scaffolder.template.dry-run"
  | "scaffolder.task.create"
  | "scaffolder.task.read"
  | "scaffolder.task.cancel";

// Access is the result of a permission check. Until it is known, controls are neither enabled nor explained.
export type Access = {
  allowed: boolean;
  known: boolean;
  // reason explains why access is denied and what to do.
  reason?: string;
};

type Question = { permission: Permission; resourceRef?: string };
type Waiting = Question & { resolve: (allowed: boolean) => void; reject: (err: unknown) => void };

let waiting: Waiting[] = [];

// decide checks a permission. All checks of one microtask are sent in one request.
function decide(question: Question): Promise<boolean> {
  return new Promise((resolve, reject) => {
    waiting.push({ ...question, resolve, reject });
    if (waiting.length === 1) {
      queueMicrotask(flush);
    }
  });
}

async function flush() {
  const batch = waiting;
  waiting = [];
  const items = batch.map((q, i) => ({
    id: String(i),
    resourceRef: q.resourceRef,
    permission: q.resourceRef
      ? { type: "resource", name: q.permission, attributes: {}, resourceType: q.permission.startsWith("scaffolder.") ? "scaffolder-template" : "catalog-entity" }
      : { type: "basic", name: q.permission, attributes: {} },
  }));
  try {
    const answer = await fetchJson<{ items: { result: string }[] }>("/api/permission/authorize", { json: { items } });
    batch.forEach((q, i) => q.resolve(answer.items[i]?.result === "ALLOW"));
  } catch (err) {
    batch.forEach((q) => q.reject(err));
  }
}

// usePermission checks whether the current user has a permission, for one entity if given.
export function usePermission(permission: Permission, resourceRef?: string): Access {
  const session = useSession();
  const { data, isError } = useQuery({
    queryKey: ["may", session.userRef, permission, resourceRef],
    queryFn: () => decide({ permission, resourceRef }),
    staleTime: 60_000,
    enabled: session.state === "signed-in",
  });
  if (data === undefined) {
    return { allowed: false, known: isError, reason: isError ? texts.app.permission.unknown : undefined };
  }
  if (data) {
    return { allowed: true, known: true };
  }
  const reason = session.guest
    ? session.methods.oidc
      ? texts.app.permission.guest
      : texts.app.permission.guestOnly
    : texts.app.permission.missing(permission);
  return { allowed: false, known: true, reason };
}
