import { useQuery } from "@tanstack/react-query";
import { ask } from "../api/client";
import { useSession } from "./session";

// Permission is what one may or may not.
export type Permission =
  | "catalog.entity.delete"
  | "catalog.entity.refresh"
  | "catalog.location.create"
  | "catalog.ingestion.read"
  | "catalog.ingestion.manage"
  | "scaffolder.template.parameter.read"
  | "scaffolder.template.dry-run"
  | "scaffolder.task.create"
  | "scaffolder.task.read"
  | "scaffolder.task.cancel";

// May is the answer. While it is not known, nothing is offered and nothing is refused.
export type May = {
  allowed: boolean;
  known: boolean;
  // why says in a sentence what to do if it is not allowed.
  why?: string;
};

type Question = { permission: Permission; resourceRef?: string };
type Waiting = Question & { resolve: (allowed: boolean) => void; reject: (err: unknown) => void };

let waiting: Waiting[] = [];

// decide asks whether somebody may. All questions of one moment are asked at once.
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
    const answer = await ask<{ items: { result: string }[] }>("/api/permission/authorize", { json: { items } });
    batch.forEach((q, i) => q.resolve(answer.items[i]?.result === "ALLOW"));
  } catch (err) {
    batch.forEach((q) => q.reject(err));
  }
}

// useMay says whether who is looking may do something, to a certain entity if one is named.
export function useMay(permission: Permission, resourceRef?: string): May {
  const session = useSession();
  const { data, isError } = useQuery({
    queryKey: ["may", session.who, permission, resourceRef],
    queryFn: () => decide({ permission, resourceRef }),
    staleTime: 60_000,
    enabled: session.state === "in",
  });
  if (data === undefined) {
    return { allowed: false, known: isError, why: isError ? "The portal does not say whether you may. Try again in a moment." : undefined };
  }
  if (data) {
    return { allowed: true, known: true };
  }
  const why = session.guest
    ? session.offers.oidc
      ? "Guests may not do this. Sign in first."
      : "Guests may not do this, and nobody can sign in here: auth.providers in the configuration has no OpenID Connect."
    : `You lack the permission ${permission}. Ask whoever runs this portal.`;
  return { allowed: false, known: true, why };
}
