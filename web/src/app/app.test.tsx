import { MantineProvider } from "@mantine/core";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { MemoryRouter } from "react-router";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Frame } from "./Frame";
import { usePermission } from "./permission";
import { SessionProvider } from "./session";

type Asked = { path: string; body: unknown };

let asked: Asked[];
let answers: Record<string, (body: unknown) => Response>;

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
const who = (ref: string, name?: string) => {
  const identity = { token: ref, expiresInSeconds: 3600, identity: { type: "user", userEntityRef: ref, ownershipEntityRefs: [ref] } };
  return json({ profile: { displayName: name }, portalIdentity: identity, backstageIdentity: identity });
};
const refused = (status: number, message: string) => json({ error: { name: "AuthenticationError", message } }, status);

beforeEach(() => {
  asked = [];
  localStorage.clear();
  window.scrollTo = () => undefined;
  answers = { "/api/auth/providers": () => json({ guest: true, oidc: true }), "/api/auth/guest/refresh": () => who("user:development/guest") };
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    const body = init?.body ? (JSON.parse(String(init.body)) as unknown) : undefined;
    asked.push({ path, body });
    const answer = answers[path];
    if (!answer) {
      throw new TypeError("Failed to fetch");
    }
    return answer(body);
  });
});

function Page() {
  const create = usePermission("scaffolder.task.create");
  const manage = usePermission("catalog.ingestion.manage");
  return (
    <PermissionTooltip access={create}>
      <button disabled={!create.allowed}>{manage.allowed ? "Manage" : "Make"}</button>
    </PermissionTooltip>
  );
}

const open = () =>
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <SessionProvider>
          <MemoryRouter initialEntries={["/catalog"]}>
            <Frame>
              <Page />
            </Frame>
          </MemoryRouter>
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );

const decide = (result: string) => (body: unknown) => json({ items: (body as { items: unknown[] }).items.map(() => ({ result })) });

describe("sign-in", () => {
  test("starts as guest without a failed request", async () => {
    answers["/api/permission/authorize"] = decide("DENY");
    open();
    expect(await screen.findByRole("button", { name: "Browsing as guest" })).toBeTruthy();
    expect(asked.map((a) => a.path)).not.toContain("/api/auth/oidc/refresh");
  });

  test("resumes the previous session", async () => {
    localStorage.setItem("portal-signed-in", "yes");
    answers["/api/auth/oidc/refresh"] = () => who("user:default/ann", "Ann");
    answers["/api/permission/authorize"] = decide("ALLOW");
    open();
    expect(await screen.findByRole("button", { name: "Signed in as Ann" })).toBeTruthy();
    expect(await screen.findByRole("button", { name: "Manage" })).toBeTruthy();
  });

  test("falls back to guest when the session has expired", async () => {
    localStorage.setItem("portal-signed-in", "yes");
    answers["/api/auth/oidc/refresh"] = () => refused(401, "Missing session cookie");
    answers["/api/permission/authorize"] = decide("DENY");
    open();
    expect(await screen.findByRole("button", { name: "Browsing as guest" })).toBeTruthy();
    expect(localStorage.getItem("portal-signed-in")).toBeNull();
  });

  test("requires sign-in if guests are disabled", async () => {
    answers["/api/auth/providers"] = () => json({ guest: false, oidc: true });
    answers["/api/auth/oidc/refresh"] = () => refused(401, "Missing session cookie");
    open();
    expect(await screen.findByRole("heading", { name: "Sign in" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Continue as guest" })).toBeNull();
    expect(screen.queryByText("Make")).toBeNull();
  });

  test("explains that no sign-in method is configured", async () => {
    answers["/api/auth/providers"] = () => json({ guest: false, oidc: false });
    open();
    expect(await screen.findByText(/No sign-in method is configured/)).toBeTruthy();
  });

  test("retries when the portal is unreachable", async () => {
    const providers = answers["/api/auth/providers"]!;
    delete answers["/api/auth/providers"];
    open();
    await userEvent.click(await screen.findByRole("button", { name: "Retry" }));
    expect(await screen.findByRole("button", { name: "Retry" })).toBeTruthy();
    answers["/api/auth/providers"] = providers;
    answers["/api/permission/authorize"] = decide("DENY");
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await screen.findByRole("button", { name: "Browsing as guest" })).toBeTruthy();
  });
});

describe("permissions", () => {
  test("are checked in one request, and a denial is explained", async () => {
    answers["/api/permission/authorize"] = decide("DENY");
    open();
    expect(await screen.findByRole("note", { name: "Not available to guests. Sign in first." })).toBeTruthy();
    const questions = asked.filter((a) => a.path === "/api/permission/authorize");
    expect(questions).toHaveLength(1);
    expect((questions[0]!.body as { items: { permission: { name: string } }[] }).items.map((i) => i.permission.name)).toEqual([
      "scaffolder.task.create",
      "catalog.ingestion.manage",
    ]);
    expect((screen.getByText("Make") as HTMLButtonElement).disabled).toBe(true);
  });

  test("enable controls", async () => {
    answers["/api/permission/authorize"] = decide("ALLOW");
    open();
    await waitFor(() => expect((screen.getByText("Manage") as HTMLButtonElement).disabled).toBe(false));
    expect(screen.queryByRole("note")).toBeNull();
  });
});
