import { configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import type { Entity } from "../api/types";
import { hashOf, pack } from "./link";
import PlaygroundPage from "./PlaygroundPage";
import type { Finding, Preview } from "./preview";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

// The real editor needs a browser with text layout.
vi.mock("./Editor", () => ({
  default: ({ text, onChange, jump }: { text: string; onChange: (text: string) => void; jump?: { line: number } }) => (
    <>
      <textarea aria-label="Definition" value={text} onChange={(e) => onChange(e.target.value)} />
      <output>{jump ? `at line ${jump.line}` : ""}</output>
    </>
  ),
}));

const finding: Finding = { rule: "XRD069", severity: "error", message: "not a type", hint: "write string", line: 7, column: 3 };

function preview(name: string, more: Partial<Preview["definitions"][number]> = {}): Preview {
  const template = { kind: "Template", metadata: { name, description: `How to get ${name}` }, spec: { parameters: [{ title: "First", properties: { size: { type: "string" } } }] } } as unknown as Entity;
  return {
    definitions: [{ name, entities: [template], yaml: `name: ${name}\n`, values: [], findings: [], command: "ingestor-cli definition.yaml", ...more }],
    findings: [],
    passed: [],
  };
}

let answers: (text: string, url: string) => Preview | { status: number; message: string };
let asked: string[];

beforeEach(() => {
  asked = [];
  sessionStorage.clear();
  answers = (text) => preview(/name: (\S+)/.exec(text)?.[1] ?? "none");
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (!url.includes("/preview")) {
      return new Response("{}", { status: 404 });
    }
    asked.push(String(init.body));
    const answer = answers(String(init.body), url);
    if ("status" in answer) {
      return new Response(JSON.stringify({ error: { name: "E", message: answer.message } }), { status: answer.status });
    }
    return new Response(JSON.stringify(answer));
  });
});

function open(path = "/playground") {
  return render(
    <Testbed path={path}>
      <PlaygroundPage />
    </Testbed>,
  );
}

async function type(text: string) {
  fireEvent.change(await screen.findByLabelText("Definition"), { target: { value: text } });
}

it("requests one preview when typing stops", async () => {
  open();
  await screen.findByText(/^databases\.platform\.example\.org: 1 entity/);
  await type("name: a");
  await type("name: ab");
  await type("name: abc");
  await screen.findByText(/^abc: 1 entity/);
  expect(asked.filter((t) => t.startsWith("name: a"))).toEqual(["name: abc"]);
});

it("keeps the last valid result until the text is fixed", async () => {
  open();
  await type("name: good");
  await screen.findByText(/^good: 1 entity/);
  answers = () => ({ definitions: [], findings: [finding], passed: [] });
  await type("name: bad [");
  await screen.findByText(/Error on line 7: not a type\. Showing the last valid result\./);
  expect(screen.getByText("How to get good")).toBeTruthy();
  answers = () => preview("mended");
  await type("name: mended");
  await screen.findByText(/^mended: 1 entity/);
});

it("jumps from a finding to its line", async () => {
  answers = () => preview("x", { findings: [finding] });
  open("/playground?tab=findings");
  await userEvent.click(await screen.findByText("not a type"));
  await screen.findByText("at line 7");
});

it("opens a link", async () => {
  open(`/playground?profile=cli${hashOf(await pack("name: linked"))}`);
  await screen.findByText(/^linked: 1 entity/);
  expect((screen.getByLabelText("Definition") as HTMLTextAreaElement).value).toBe("name: linked");
});

it("reports a damaged link and starts with an example", async () => {
  open("/playground#xrd=AAAA");
  await screen.findByText(/The link is damaged/);
  await screen.findByText(/^databases\.platform\.example\.org/);
});

it("accepts a dropped file and rejects one that is too large", async () => {
  open();
  await screen.findByLabelText("Definition");
  const where = screen.getByLabelText("Editor");
  const file = new File(["name: dropped"], "x.yaml");
  file.text = async () => "name: dropped";
  fireEvent.drop(where, { dataTransfer: { files: [file], types: ["Files"] } });
  await screen.findByText(/^dropped: 1 entity/);
  const large = new File([new Uint8Array(2 << 20)], "large.yaml");
  fireEvent.drop(where, { dataTransfer: { files: [large], types: ["Files"] } });
  await screen.findByText(/large\.yaml is larger than 1 MiB/);
});

it("shows the error of the server", async () => {
  answers = () => ({ status: 413, message: "The text has 21 definitions, and a preview at most 20" });
  open();
  await screen.findByText(/a preview at most 20/);
});

it("shows why the service would skip a definition, and escapes markup", async () => {
  answers = () => preview("<img src=x onerror=alert(1)>\u202e", { refused: "it has no label" });
  open();
  await screen.findByText(/It has no label\./);
  await waitFor(() => expect(screen.getByTestId("status").textContent).toContain("<img src=x"));
  expect(document.querySelector("img")).toBeNull();
  // The direction character does not affect the text after it.
  expect(screen.getByTestId("status").textContent).toMatch(/>\ufffd: 1 entity$/);
});
