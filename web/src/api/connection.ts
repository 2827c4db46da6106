// The connection to the portal, as the last request found it.
export type Connection = {
  online: boolean;
  // lastContact is when the portal last answered.
  lastContact: number;
};

let connection: Connection = { online: true, lastContact: Date.now() };

const listeners = new Set<(now: Connection) => void>();

// currentConnection returns the current connection. It is a new object after each change.
export function currentConnection(): Connection {
  return connection;
}

// onConnection calls a function whenever the portal goes away or comes back, until the returned function is called.
export function onConnection(listen: (now: Connection) => void): () => void {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

// noteContact records whether a request reached the portal. A proxy that answers for the portal does not count.
export function noteContact(online: boolean) {
  const changed = online !== connection.online;
  const lastContact = online ? Date.now() : connection.lastContact;
  if (!changed) {
    connection.lastContact = lastContact;
    return;
  }
  connection = { online, lastContact };
  listeners.forEach((listen) => listen(connection));
}

// checkConnection asks the portal whether it is there. The path needs no sign-in.
export async function checkConnection(): Promise<boolean> {
  let online = false;
  try {
    const answer = await fetch("/api/auth/providers", { headers: { Accept: "application/json" }, cache: "no-store", credentials: "same-origin" });
    online = !isProxyError(answer);
  } catch {
    // Not reached.
  }
  noteContact(online);
  return online;
}

// isProxyError reports whether a proxy answered because it cannot reach the portal.
export function isProxyError(answer: Response): boolean {
  return [502, 503, 504].includes(answer.status) && !(answer.headers.get("Content-Type") ?? "").includes("json");
}
