import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { focusManager, onlineManager } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import type { Schemas } from "../api/types";
import type { Comparison } from "./comparison";
import PlaygroundPage from "./PlaygroundPage";

// The real editor needs a browser with text layout. All tests of the playground have the same substitute: they share modules.
vi.mock("./Editor", () => ({
  default: ({ text, onChange, jump }: { text: string; onChange: (text: string) => void; jump?: { line: number } }) => (
    <>
      <textarea aria-label="Definition" value={text} onChange={(e) => onChange(e.target.value)} />
      <output>{jump ? `at line ${jump.line}` : ""}</output>
    </>
  ),
}));

const change: Schemas["DefinitionChange"] = { rule: "DIF024", severity: "error", version: "v1", field: "spec.size", path: "", file: "definition.yaml", line: 7, column: 3, message: 'enum value "small" removed', hint: "keep it", old: "small", new: "" };
const compared: Comparison = { definitions: [{ name: "buckets.example.org", status: "changed", changes: [change] }], findings: [] };

const effect: Schemas["ImpactEffect"] = {
  rule: "DIF024",
  field: "spec.size",
  message: 'v1: spec.size: enum value "small" removed',
  outcome: "refused",
  count: 7,
  clusters: ["dev", "prod"],
  resources: [{ cluster: "dev", kind: "Bucket", namespace: "shop", name: "photos", owner: "team", entity: "resource:default/bucket-photos" }],
};
const impact: Schemas["Impact"] = {
  checked: 412,
  affected: 7,
  clusters: 3,
  definitions: [{ name: "buckets.example.org", checked: 412, affected: 7, refused: 7, dropped: 0, unserved: 0, invalid: 1, clusters: ["dev", "prod", "test"], effects: [effect] }],
};

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:default/ann", ownershipEntityRefs: [] } };

let comparison: Comparison | { status: number; message: string };
// slow, if any, is what a comparison waits for.
let slow: Promise<void> | undefined;
let allowed: boolean;
let comparedTexts: string[];
// stream is the response of the running check.
let stream: { send: (line: unknown) => void; end: () => void; signal: AbortSignal };

beforeEach(() => {
  comparison = compared;
  slow = undefined;
  allowed = true;
  comparedTexts = [];
  sessionStorage.clear();
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (url.startsWith("/api/auth/providers")) {
      return answer({ guest: true, oidc: false });
    }
    if (url.startsWith("/api/auth/guest/refresh")) {
      return answer({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    if (url.startsWith("/api/permission/authorize")) {
      const { items } = JSON.parse(String(init.body)) as { items: unknown[] };
      return answer({ items: items.map((_, i) => ({ id: String(i), result: allowed ? "ALLOW" : "DENY" })) });
    }
    if (url.includes("/preview")) {
      return answer({ definitions: [], findings: [], passed: [] });
    }
    if (url === "/api/composer-ingestor/impact?impact=false") {
      comparedTexts.push(String(init.body));
      await slow;
      return "status" in comparison ? answer({ error: { name: "E", message: comparison.message } }, comparison.status) : answer(comparison);
    }
    if (url === "/api/composer-ingestor/impact") {
      expect((init.headers as Record<string, string>)["Accept"]).toBe("application/x-ndjson");
      const body = new ReadableStream<Uint8Array>({
        start(to) {
          const bytes = new TextEncoder();
          stream = { send: (line) => to.enqueue(bytes.encode(`${JSON.stringify(line)}\n`)), end: () => to.close(), signal: init.signal! };
          init.signal!.addEventListener("abort", () => to.error(new DOMException("aborted", "AbortError")));
        },
      });
      return new Response(body);
    }
    return answer({}, 404);
  });
});

function open(path = "/playground?tab=changes") {
  return render(
    <Testbed path={path}>
      <PlaygroundPage />
    </Testbed>,
  );
}

async function type(text: string) {
  fireEvent.change(await screen.findByLabelText("Definition"), { target: { value: text } });
}

async function check() {
  await userEvent.click(await screen.findByRole("button", { name: "Check live resources" }));
  await waitFor(() => expect(screen.getByText("0 resources checked…")).toBeTruthy());
}

it("compares the text when typing stops, and links a change to its line", async () => {
  open();
  await screen.findByRole("region", { name: "buckets.example.org" });
  await type("name: a");
  await type("name: ab");
  const definition = within(await screen.findByRole("region", { name: "buckets.example.org" }));
  expect(definition.getByText("Changed")).toBeTruthy();
  expect(definition.getByText("1 breaking change")).toBeTruthy();
  await userEvent.click(definition.getByRole("button", { name: /^Breaking DIF024 v1 spec\.size line 7/ }));
  await screen.findByText("at line 7");
  await waitFor(() => expect(comparedTexts.at(-1)).toBe("name: ab"));
  expect(comparedTexts).not.toContain("name: a");
});

it("asks only while the tab is open, and only with the permission", async () => {
  const { unmount } = open("/playground");
  await screen.findByRole("tab", { name: "Changes" });
  expect(comparedTexts).toEqual([]);
  unmount();
  allowed = false;
  open();
  await screen.findByRole("tab", { name: "Form", selected: true });
  expect(screen.queryByRole("tab", { name: "Changes" })).toBeNull();
  expect(comparedTexts).toEqual([]);
});

it("shows documents that cannot be read, and errors", async () => {
  comparison = { definitions: [], findings: [{ rule: "XRD001", severity: "error", message: "not YAML", line: 2, column: 1 }] };
  const { unmount } = open();
  await userEvent.click(await screen.findByRole("button", { name: /XRD001/ }));
  await screen.findByText("at line 2");
  expect(screen.queryByRole("button", { name: "Check live resources" })).toBeNull();
  unmount();
  comparison = { status: 413, message: "Too many definitions" };
  open();
  expect(await screen.findByText("Too many definitions")).toBeTruthy();
  comparison = compared;
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  await screen.findByRole("region", { name: "buckets.example.org" });
  expect(screen.queryByRole("alert")).toBeNull();
});

it("shows that a text has no definition, as the other tabs do", async () => {
  comparison = { status: 400, message: "The body has no definition; send CompositeResourceDefinitions as YAML or JSON" };
  open();
  await waitFor(() => expect(comparedTexts.length).toBe(1));
  await new Promise((done) => setTimeout(done, 100));
  expect(screen.getByText("No definition yet")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.queryByRole("button", { name: "Retry" })).toBeNull();
  comparison = { status: 400, message: "The body is incomplete or does not match its headers" };
  await type("name: other");
  expect(await screen.findByText("The body is incomplete or does not match its headers")).toBeTruthy();
});

it("keeps the earlier comparison and the check if a comparison fails", async () => {
  open();
  await check();
  stream.send({ result: { ...compared, impact } });
  stream.end();
  await screen.findByText("7 of 412 live resources in 3 clusters are affected.");
  comparison = { status: 503, message: "Too many comparisons are in progress" };
  await type("name: later");
  await screen.findByText("Too many comparisons are in progress");
  const region = screen.getByRole("region", { name: "buckets.example.org" });
  expect(screen.getByRole("alert").compareDocumentPosition(region)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(screen.getByText("7 of 412 live resources in 3 clusters are affected.")).toBeTruthy();
  await screen.findByText("Showing the result of an earlier version of the text.");
});

it("marks the comparison of an earlier text while a slow one runs", async () => {
  open();
  await screen.findByRole("region", { name: "buckets.example.org" });
  let answered = () => undefined as void;
  slow = new Promise((resolve) => (answered = resolve));
  await type("name: later");
  await screen.findByText("Showing the result of an earlier version of the text.");
  expect(screen.getByRole("region", { name: "buckets.example.org" })).toBeTruthy();
  answered();
  await waitFor(() => expect(screen.queryByText("Showing the result of an earlier version of the text.")).toBeNull());
});

it("does not compare again when the user comes back to the page", async () => {
  open();
  await screen.findByRole("region", { name: "buckets.example.org" });
  const before = comparedTexts.length;
  for (const manager of [focusManager.setFocused.bind(focusManager), onlineManager.setOnline.bind(onlineManager)]) {
    manager(false);
    manager(true);
  }
  await new Promise((done) => setTimeout(done, 50));
  expect(comparedTexts.length).toBe(before);
});

it("offers no check for changes that cannot affect resources", async () => {
  comparison = {
    definitions: [
      { name: "new.example.org", status: "added", changes: [change] },
      { name: "same.example.org", status: "unchanged", changes: [] },
    ],
    findings: [],
    incomplete: ["more than 2000 changes"],
  };
  open();
  expect(await screen.findByText("No definition of this name is ingested.")).toBeTruthy();
  expect(screen.getByText("more than 2000 changes")).toBeTruthy();
  expect(within(screen.getByRole("region", { name: "same.example.org" })).getByText("Unchanged")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Check live resources" })).toBeNull();
});

it("checks live resources with progress, and marks the result when the text changes", async () => {
  open();
  await check();
  stream.send({ checked: 300 });
  await screen.findByText("300 resources checked…");
  stream.send({ result: { ...compared, impact, incomplete: ["cluster test cannot be read"] } });
  stream.end();
  await screen.findByText("7 of 412 live resources in 3 clusters are affected.");
  expect(screen.getByText("cluster test cannot be read")).toBeTruthy();
  expect(screen.getByText("buckets.example.org: the ingested definition already rejects 1 resource.")).toBeTruthy();
  const sentence = 'v1: spec.size: enum value "small" removed: 7 of 412 resources in 2 clusters would be rejected';
  expect(screen.queryByText("photos")).toBeNull();
  await userEvent.click(screen.getByText(sentence));
  const table = within(await screen.findByRole("region", { name: sentence }));
  expect(table.getByRole("row", { name: /^photos Bucket · shop dev/ })).toBeTruthy();
  expect(table.getByRole("link", { name: "photos" }).getAttribute("href")).toBe("/catalog/default/resource/bucket-photos");
  expect(screen.getByText(/^6 more not shown: you may not read them/)).toBeTruthy();
  await type("name: later");
  await screen.findByText("This is the result for an earlier version of the text.");
});

it("reports that no resource is affected", async () => {
  open();
  await check();
  stream.send({ result: { ...compared, impact: { ...impact, affected: 0, definitions: [] } } });
  stream.end();
  await screen.findByText("No live resource is affected (412 checked in 3 clusters).");
});

it("cancels a check when the user types, leaves or cancels", async () => {
  const { unmount } = open();
  await check();
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(stream.signal.aborted).toBe(true);
  await check();
  await type("name: other");
  expect(stream.signal.aborted).toBe(true);
  await waitFor(() => expect(screen.queryByText(/resources checked…/)).toBeNull());
  await check();
  unmount();
  expect(stream.signal.aborted).toBe(true);
});

it("shows why a check has no result, and retries", async () => {
  open();
  await check();
  stream.send({ error: "Comparison failed" });
  stream.end();
  await screen.findByText("Comparison failed");
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  await screen.findByText("0 resources checked…");
  stream.end();
  await screen.findByText(/^The connection ended before/);
});
