import type { Session } from "./types";
import { texts } from "../text";

// SignInMethod is how a user is signed in: as a guest, or at the configured OpenID Connect issuer.
export type SignInMethod = "guest" | "oidc";

// SignInMethods are the sign-in methods that the portal offers.
export type SignInMethods = { guest: boolean; oidc: boolean };

// ActiveSession is a session and its sign-in method. It is kept in memory only: any script could read a token in storage.
export type ActiveSession = { method: SignInMethod; session: Session; until: number };

let active: ActiveSession | undefined;
let starting: Promise<ActiveSession | undefined> | undefined;
const listeners = new Set<(active: ActiveSession | undefined, why?: Error) => void>();

// SignInError is a failed sign-in, token renewal or sign-out.
export class SignInError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

// onSession registers a listener for session changes and returns a function that removes it.
export function onSession(listener: (active: ActiveSession | undefined, why?: Error) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(why?: Error) {
  for (const listener of listeners) {
    listener(active, why);
  }
}

// fetchSignInMethods requests the sign-in methods that the portal offers.
export async function fetchSignInMethods(signal?: AbortSignal): Promise<SignInMethods> {
  const answer = await fetch("/api/auth/providers", { signal, headers: { Accept: "application/json" } });
  if (!answer.ok) {
    throw new SignInError(answer.status, texts.api.signInMethods);
  }
  return (await answer.json()) as SignInMethods;
}

// startSession requests a token. Concurrent calls share one request.
export function startSession(method: SignInMethod): Promise<ActiveSession | undefined> {
  starting ??= fetchSession(method).finally(() => {
    starting = undefined;
  });
  return starting;
}

async function fetchSession(method: SignInMethod): Promise<ActiveSession> {
  const answer = await fetch(`/api/auth/${method}/refresh`, {
    method: "POST",
    headers: { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" },
    credentials: "same-origin",
  });
  if (!answer.ok) {
    let message = texts.api.status(answer.status);
    try {
      message = ((await answer.json()) as { error: { message: string } }).error.message;
    } catch {
      // The body has no message; use the status.
    }
    throw new SignInError(answer.status, message);
  }
  const session = (await answer.json()) as Session;
  active = { method, session, until: Date.now() + session.portalIdentity.expiresInSeconds * 1000 };
  notify();
  return active;
}

// endSession ends the session, also on the server. If the server fails, the session continues and the error is thrown.
export async function endSession(): Promise<void> {
  if (active?.method === "oidc") {
    const answer = await fetch("/api/auth/oidc/logout", { method: "POST", headers: { "X-Requested-With": "XMLHttpRequest" }, credentials: "same-origin" });
    if (!answer.ok) {
      throw new SignInError(answer.status, texts.api.signOutFailed);
    }
  }
  active = undefined;
  notify();
}

// soon is how long before its expiry a token is renewed, in milliseconds.
const soon = 30_000;

// token returns a valid token, or undefined without a session.
export async function token(): Promise<string | undefined> {
  if (starting) {
    await starting.catch(() => undefined);
  }
  if (!active) {
    return undefined;
  }
  if (active.until - Date.now() < soon) {
    return renewToken(active.session.portalIdentity.token);
  }
  return active.session.portalIdentity.token;
}

// renewToken requests a new token in place of an expired one. If the portal refuses, the session ends; if the portal is
// unreachable, it does not.
export async function renewToken(old: string | undefined): Promise<string | undefined> {
  if (!active) {
    return undefined;
  }
  const now = active.session.portalIdentity.token;
  if (old !== undefined && now !== old) {
    return now;
  }
  try {
    const next = await startSession(active.method);
    return next?.session.portalIdentity.token;
  } catch (err) {
    if (err instanceof SignInError && (err.status === 401 || err.status === 403)) {
      active = undefined;
      notify(err);
    }
    return undefined;
  }
}
