import type { Session } from "./types";

// How somebody is in: as a guest, or signed in at the configured issuer.
export type How = "guest" | "oidc";

// Offers are the ways in.
export type Offers = { guest: boolean; oidc: boolean };

// Held is a session and how it was had. It lives in memory only: a token in storage could be read by any script.
export type Held = { how: How; session: Session; until: number };

let held: Held | undefined;
let entering: Promise<Held | undefined> | undefined;
const listeners = new Set<(held: Held | undefined, why?: Error) => void>();

// NotLetIn is why a way in is closed.
export class NotLetIn extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

// onSession calls back whenever somebody comes in or is no longer in. It returns how to stop that.
export function onSession(listener: (held: Held | undefined, why?: Error) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(why?: Error) {
  for (const listener of listeners) {
    listener(held, why);
  }
}

// offers asks which ways in there are.
export async function offers(signal?: AbortSignal): Promise<Offers> {
  const answer = await fetch("/api/auth/providers", { signal, headers: { Accept: "application/json" } });
  if (!answer.ok) {
    throw new NotLetIn(answer.status, "The portal does not say how to come in. Try again in a moment.");
  }
  return (await answer.json()) as Offers;
}

// enter gets a token in a given way. Two at once get the same.
export function enter(how: How): Promise<Held | undefined> {
  entering ??= fetchSession(how).finally(() => {
    entering = undefined;
  });
  return entering;
}

async function fetchSession(how: How): Promise<Held> {
  const answer = await fetch(`/api/auth/${how}/refresh`, {
    method: "POST",
    headers: { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" },
    credentials: "same-origin",
  });
  if (!answer.ok) {
    let message = `The portal answered ${answer.status}.`;
    try {
      message = ((await answer.json()) as { error: { message: string } }).error.message;
    } catch {
      // The status has to do.
    }
    throw new NotLetIn(answer.status, message);
  }
  const session = (await answer.json()) as Session;
  held = { how, session, until: Date.now() + session.portalIdentity.expiresInSeconds * 1000 };
  tell();
  return held;
}

// leave ends the session, on the server too. If the server cannot end it, the session goes on and the error says so.
export async function leave(): Promise<void> {
  if (held?.how === "oidc") {
    const answer = await fetch("/api/auth/oidc/logout", { method: "POST", headers: { "X-Requested-With": "XMLHttpRequest" }, credentials: "same-origin" });
    if (!answer.ok) {
      throw new NotLetIn(answer.status, "You are still signed in: the portal could not end your session. Try again in a moment.");
    }
  }
  held = undefined;
  tell();
}

// soon is how long before its end a token is no longer used.
const soon = 30_000;

// token returns a token that is good, undefined if nobody is in.
export async function token(): Promise<string | undefined> {
  if (entering) {
    await entering.catch(() => undefined);
  }
  if (!held) {
    return undefined;
  }
  if (held.until - Date.now() < soon) {
    return renewToken(held.session.portalIdentity.token);
  }
  return held.session.portalIdentity.token;
}

// renewToken gets another token in place of one that is no longer good. If that is not possible the session is over,
// unless the portal merely does not answer.
export async function renewToken(old: string | undefined): Promise<string | undefined> {
  if (!held) {
    return undefined;
  }
  const now = held.session.portalIdentity.token;
  if (old !== undefined && now !== old) {
    return now;
  }
  try {
    const next = await enter(held.how);
    return next?.session.portalIdentity.token;
  } catch (err) {
    if (err instanceof NotLetIn && (err.status === 401 || err.status === 403)) {
      held = undefined;
      tell(err);
    }
    return undefined;
  }
}
