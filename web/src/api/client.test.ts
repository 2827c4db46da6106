import { beforeEach, describe, expect, test, vi } from "vitest";

// The token is module state, so each test loads fresh modules.
async function fresh() {
  vi.resetModules();
  return { client: await import("./client"), token: await import("./token") };
}

type Answer = { status?: number; body?: unknown };

// portal stubs responses by path, in order; the last one repeats.
function portal(answers: Record<string, Answer[]>) {
  const asked: { path: string; token: string | null }[] = [];
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    asked.push({ path, token: new Headers(init?.headers).get("Authorization") });
    const list = answers[path];
    if (!list) {
      throw new TypeError("Failed to fetch");
    }
    const answer = list.length > 1 ? list.shift()! : list[0]!;
    return new Response(answer.body === undefined ? null : JSON.stringify(answer.body), { status: answer.status ?? 200 });
  });
  return asked;
}

function session(token: string, seconds = 3600) {
  const identity = { token, expiresInSeconds: seconds, identity: { type: "user", userEntityRef: "user:default/ann", ownershipEntityRefs: [] } };
  return { body: { profile: {}, portalIdentity: identity, backstageIdentity: identity } };
}

const refused = (status: number, name: string, message: string) => ({ status, body: { error: { name, message } } });

beforeEach(() => {
  vi.unstubAllGlobals();
});

describe("fetchJson", () => {
  test("sends the token and parses the response", async () => {
    const asked = portal({ "/api/auth/guest/refresh": [session("one")], "/api/things": [{ body: { a: 1 } }] });
    const { client, token } = await fresh();
    await token.startSession("guest");
    expect(await client.fetchJson("/api/things")).toEqual({ a: 1 });
    expect(asked.at(-1)).toEqual({ path: "/api/things", token: "Bearer one" });
  });

  test("renews an expired token once and repeats the request", async () => {
    const asked = portal({
      "/api/auth/oidc/refresh": [session("old"), session("new")],
      "/api/things": [refused(403, "AuthenticationError", "Illegal token"), { body: "yes" }],
    });
    const { client, token } = await fresh();
    await token.startSession("oidc");
    expect(await client.fetchJson("/api/things")).toBe("yes");
    expect(asked.filter((a) => a.path === "/api/things").map((a) => a.token)).toEqual(["Bearer old", "Bearer new"]);
  });

  test("concurrent requests renew the token once", async () => {
    const asked = portal({
      "/api/auth/oidc/refresh": [session("old", 1), session("new")],
      "/api/things": [{ body: "yes" }],
    });
    const { client, token } = await fresh();
    await token.startSession("oidc");
    await Promise.all([client.fetchJson("/api/things"), client.fetchJson("/api/things"), client.fetchJson("/api/things")]);
    expect(asked.filter((a) => a.path === "/api/auth/oidc/refresh")).toHaveLength(2);
    expect(asked.filter((a) => a.path === "/api/things").map((a) => a.token)).toEqual(["Bearer new", "Bearer new", "Bearer new"]);
  });

  test("does not renew the token when permission is denied", async () => {
    const asked = portal({ "/api/auth/guest/refresh": [session("one")], "/api/things": [refused(403, "NotAllowedError", "You lack it")] });
    const { client, token } = await fresh();
    await token.startSession("guest");
    await expect(client.fetchJson("/api/things")).rejects.toMatchObject({ status: 403, name: "NotAllowedError", message: "You lack it" });
    expect(asked.filter((a) => a.path === "/api/auth/guest/refresh")).toHaveLength(1);
  });

  test("notifies listeners when the session has ended", async () => {
    portal({
      "/api/auth/oidc/refresh": [session("old"), refused(401, "AuthenticationError", "Your session has ended: sign in again")],
      "/api/things": [refused(401, "AuthenticationError", "no")],
    });
    const { client, token } = await fresh();
    await token.startSession("oidc");
    const heard = vi.fn();
    token.onSession(heard);
    await expect(client.fetchJson("/api/things")).rejects.toMatchObject({ status: 401 });
    expect(heard).toHaveBeenCalledWith(undefined, expect.objectContaining({ message: "Your session has ended: sign in again" }));
  });

  test("an unavailable portal does not end the session", async () => {
    portal({ "/api/auth/oidc/refresh": [session("old"), refused(503, "ServiceUnavailableError", "later")], "/api/things": [refused(401, "AuthenticationError", "no")] });
    const { client, token } = await fresh();
    await token.startSession("oidc");
    const heard = vi.fn();
    token.onSession(heard);
    await expect(client.fetchJson("/api/things")).rejects.toMatchObject({ status: 401 });
    expect(heard).not.toHaveBeenCalled();
  });

  test("reports an unreachable portal", async () => {
    portal({});
    const { client } = await fresh();
    await expect(client.fetchJson("/api/things")).rejects.toMatchObject({ status: 0, name: "Unreachable" });
  });

  test("a response from a proxy has a message", async () => {
    vi.stubGlobal("fetch", async () => new Response("<html>Bad gateway</html>", { status: 502 }));
    const { client } = await fresh();
    await expect(client.fetchJson("/api/things")).rejects.toMatchObject({ status: 502, message: "The portal returned status 502. Try again in a moment." });
  });
});

test("withQuery drops empty values and repeats lists", async () => {
  const { client } = await fresh();
  expect(client.withQuery("/x", { a: "1 2", b: undefined, c: "", d: ["x", "y"], e: 0 })).toBe("/x?a=1+2&d=x&d=y&e=0");
  expect(client.withQuery("/x", {})).toBe("/x");
});
