import { beforeEach, describe, expect, test, vi } from "vitest";

// The token lives in its module: each test has modules of its own.
async function fresh() {
  vi.resetModules();
  return { client: await import("./client"), token: await import("./token") };
}

type Answer = { status?: number; body?: unknown };

// portal answers requests by path, one answer after the other, the last one for ever.
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

describe("ask", () => {
  test("sends the token and reads the answer", async () => {
    const asked = portal({ "/api/auth/guest/refresh": [session("one")], "/api/things": [{ body: { a: 1 } }] });
    const { client, token } = await fresh();
    await token.enter("guest");
    expect(await client.ask("/api/things")).toEqual({ a: 1 });
    expect(asked.at(-1)).toEqual({ path: "/api/things", token: "Bearer one" });
  });

  test("renews a token that is no longer good, once, and asks again", async () => {
    const asked = portal({
      "/api/auth/oidc/refresh": [session("old"), session("new")],
      "/api/things": [refused(403, "AuthenticationError", "Illegal token"), { body: "yes" }],
    });
    const { client, token } = await fresh();
    await token.enter("oidc");
    expect(await client.ask("/api/things")).toBe("yes");
    expect(asked.filter((a) => a.path === "/api/things").map((a) => a.token)).toEqual(["Bearer old", "Bearer new"]);
  });

  test("many questions at once renew it only once", async () => {
    const asked = portal({
      "/api/auth/oidc/refresh": [session("old", 1), session("new")],
      "/api/things": [{ body: "yes" }],
    });
    const { client, token } = await fresh();
    await token.enter("oidc");
    await Promise.all([client.ask("/api/things"), client.ask("/api/things"), client.ask("/api/things")]);
    expect(asked.filter((a) => a.path === "/api/auth/oidc/refresh")).toHaveLength(2);
    expect(asked.filter((a) => a.path === "/api/things").map((a) => a.token)).toEqual(["Bearer new", "Bearer new", "Bearer new"]);
  });

  test("does not renew for what one may not do", async () => {
    const asked = portal({ "/api/auth/guest/refresh": [session("one")], "/api/things": [refused(403, "NotAllowedError", "You lack it")] });
    const { client, token } = await fresh();
    await token.enter("guest");
    await expect(client.ask("/api/things")).rejects.toMatchObject({ status: 403, name: "NotAllowedError", message: "You lack it" });
    expect(asked.filter((a) => a.path === "/api/auth/guest/refresh")).toHaveLength(1);
  });

  test("a session that is over is told to whoever listens", async () => {
    portal({
      "/api/auth/oidc/refresh": [session("old"), refused(401, "AuthenticationError", "Your session has ended: sign in again")],
      "/api/things": [refused(401, "AuthenticationError", "no")],
    });
    const { client, token } = await fresh();
    await token.enter("oidc");
    const heard = vi.fn();
    token.onSession(heard);
    await expect(client.ask("/api/things")).rejects.toMatchObject({ status: 401 });
    expect(heard).toHaveBeenCalledWith(undefined, expect.objectContaining({ message: "Your session has ended: sign in again" }));
  });

  test("a portal that does not answer is no session that is over", async () => {
    portal({ "/api/auth/oidc/refresh": [session("old"), refused(503, "ServiceUnavailableError", "later")], "/api/things": [refused(401, "AuthenticationError", "no")] });
    const { client, token } = await fresh();
    await token.enter("oidc");
    const heard = vi.fn();
    token.onSession(heard);
    await expect(client.ask("/api/things")).rejects.toMatchObject({ status: 401 });
    expect(heard).not.toHaveBeenCalled();
  });

  test("says that the portal is gone", async () => {
    portal({});
    const { client } = await fresh();
    await expect(client.ask("/api/things")).rejects.toMatchObject({ status: 0, name: "Unreachable" });
  });

  test("an answer that is not the portal's has a message all the same", async () => {
    vi.stubGlobal("fetch", async () => new Response("<html>Bad gateway</html>", { status: 502 }));
    const { client } = await fresh();
    await expect(client.ask("/api/things")).rejects.toMatchObject({ status: 502, message: "The portal answered 502. Try again in a moment." });
  });
});

test("withQuery leaves out what is not there and repeats lists", async () => {
  const { client } = await fresh();
  expect(client.withQuery("/x", { a: "1 2", b: undefined, c: "", d: ["x", "y"], e: 0 })).toBe("/x?a=1+2&d=x&d=y&e=0");
  expect(client.withQuery("/x", {})).toBe("/x");
});
