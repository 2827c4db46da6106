import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, test } from "vitest";
import { Testbed } from "../../app/Testbed";
import { contentsOf } from "./sections";
import { PageForm } from "./PageForm";
import { split } from "./split";
import type { Path, Schema, Values } from "./types";
import { measured } from "./units";

function shown(page: Schema, more: { reveal?: { path: Path } } = {}) {
  function Holder() {
    const [values, setValues] = useState<Values>({});
    const [reveal, setReveal] = useState<{ path: Path }>();
    return (
      <>
        <PageForm id="f" page={page} values={values} secrets={{}} problems={[]} onChange={setValues} onSecret={() => undefined} onDone={() => undefined} reveal={reveal} />
        <button onClick={() => setReveal(more.reveal)}>reveal</button>
      </>
    );
  }
  return render(
    <Testbed>
      <Holder />
    </Testbed>,
  );
}

const next = () => fireEvent.submit(document.getElementById("f")!);

describe("measured", () => {
  const cases: Record<string, { reason: string; schema: Schema; want: object | undefined }> = {
    size: { reason: "The unit ends the title.", schema: { type: "integer", title: "Storage GB" }, want: { title: "Storage", unit: "GB" } },
    binary: { reason: "A unit of Kubernetes.", schema: { type: "integer", title: "Memory Mi" }, want: { title: "Memory", unit: "Mi" } },
    time: { reason: "A unit as a word.", schema: { type: "integer", title: "Retention Days" }, want: { title: "Retention", unit: "days" } },
    percent: { reason: "Percent has a sign.", schema: { type: "number", title: "CPU Percent" }, want: { title: "CPU", unit: "%" } },
    described: { reason: "The description tells the unit.", schema: { type: "integer", title: "Timeout", description: "How long to wait, in seconds." }, want: { title: "Timeout", unit: "seconds" } },
    begins: { reason: "The description begins with the unit.", schema: { type: "integer", title: "Memory", description: "Megabytes of memory." }, want: { title: "Memory", unit: "MB" } },
    brackets: { reason: "The unit is in brackets.", schema: { type: "integer", title: "Disk", description: "Size (GiB)." }, want: { title: "Disk", unit: "GiB" } },
    two: { reason: "Two units are ambiguous.", schema: { type: "integer", title: "Time", description: "In the past in minutes, now in seconds." }, want: undefined },
    text: { reason: "Text has its own unit.", schema: { type: "string", title: "Size GB" }, want: undefined },
    choice: { reason: "A choice has no input for a suffix.", schema: { type: "integer", title: "Size GB", enum: [1, 2] }, want: undefined },
    alone: { reason: "A title that is a unit stays.", schema: { type: "integer", title: "Days" }, want: undefined },
    none: { reason: "Other words are no units.", schema: { type: "integer", title: "Min Replicas", description: "Replicas in use." }, want: undefined },
  };
  test.each(Object.entries(cases))("%s", (_, c) => expect(measured(c.schema), c.reason).toEqual(c.want));
});

test("a unit is shown in the input and heard with the label", () => {
  shown({ properties: { storageGB: { type: "integer", title: "Storage GB" } } });
  expect(screen.getByRole("textbox", { name: "Storage (GB)" })).toBeTruthy();
  expect(screen.getByText("GB")).toBeTruthy();
});

test("an example is a placeholder, unless there is one", () => {
  shown({ properties: { a: { type: "string", title: "A", example: "10.0.0.0/16" }, b: { type: "string", title: "B", examples: ["x"], "ui:placeholder": "y" }, c: { type: "integer", title: "C", examples: [3] } } });
  const placeholder = (name: string) => screen.getByRole("textbox", { name }).getAttribute("placeholder");
  expect(["A", "B", "C"].map(placeholder)).toEqual(["e.g. 10.0.0.0/16", "y", "e.g. 3"]);
});

test("the first field takes the focus, unless a dialog is open", () => {
  const schema = { properties: { a: { type: "string", title: "A", "ui:autofocus": true } } };
  const { unmount } = shown(schema);
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "A" }));
  unmount();
  const dialog = document.body.appendChild(document.createElement("div"));
  dialog.setAttribute("role", "dialog");
  shown(schema);
  expect(document.activeElement).toBe(document.body);
  dialog.remove();
});

test("options have names", () => {
  const titles = (schema: Schema) => (split({ properties: { x: schema } }).schema["properties"] as Record<string, { oneOf: { title: string }[] }>)["x"]!.oneOf.map((o) => o.title);
  const properties = { bucketRef: { title: "Bucket Ref", type: "string" }, bucket: { type: "string" } };
  expect(titles({ properties, oneOf: [{ required: ["bucketRef"] }, { required: ["bucket"] }, { not: { required: ["bucket"] } }, {}] })).toEqual(["With Bucket Ref", "With bucket", "Without bucket", "None of these"]);
  expect(titles({ oneOf: [{ properties: { a: {}, b: {} } }, { properties: { a: {}, c: {} } }] })).toEqual(["With b", "With c"]);
  expect(titles({ oneOf: [{ properties: { kind: { const: "s3" } } }, { properties: { kind: { enum: ["gcs"] } } }] })).toEqual(["kind: s3", "kind: gcs"]);
  expect(titles({ oneOf: [{ type: "string" }, { type: "array" }, { type: "null" }] })).toEqual(["Text", "List", "None"]);
  expect(titles({ oneOf: [{ title: "Mine" }, { type: "string", minLength: 1 }, { type: "string", maxLength: 3 }] })).toEqual(["Mine", "Variant 2", "Variant 3"]);
});

describe("validation rules", () => {
  test("are a list", () => {
    shown({ properties: { net: { type: "object", title: "Net", properties: { a: { type: "string" } }, "ui:help": "a needs b\nb needs c" } } });
    expect(screen.getByText("Rules:", { exact: false })).toBeTruthy();
    expect(screen.getAllByRole("listitem").map((li) => li.textContent)).toEqual(["a needs b", "b needs c"]);
  });
});

describe("contentsOf", () => {
  const many = (n: number, more: Schema = {}) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, { type: "string", title: `Field ${i}`, ...more }]));
  test("is empty for a short page", () => expect(contentsOf({ properties: many(8) })).toEqual([]));
  test("lists the fields of a long page", () => {
    const entries = contentsOf({ properties: { ...many(8), hidden: { "ui:widget": "hidden" }, more: { "ui:options": { advanced: true } }, disk: { title: "Disk GB", type: "integer" }, net: { properties: {} } } });
    expect(entries).toHaveLength(10);
    expect(entries.slice(-2)).toEqual([
      { name: "disk", title: "Disk", section: false },
      { name: "net", title: "net", section: true },
    ]);
  });
  test("counts the fields of sections", () => {
    expect(contentsOf({ properties: { a: { properties: many(20) }, b: { properties: many(20) } } })).toHaveLength(2);
  });
});

describe("a field that is asked for", () => {
  const deep = { type: "object", title: "Outer", "ui:options": { collapsed: true }, properties: { inner: { type: "object", title: "Inner", "ui:options": { collapsed: true }, required: ["leaf"], properties: { leaf: { type: "string", title: "Leaf" } } } } };
  test("is focused, and the sections around it open and can be closed again", async () => {
    shown({ properties: { first: { type: "string", title: "First" }, outer: deep } }, { reveal: { path: ["outer", "inner", "leaf"] } });
    window.HTMLElement.prototype.scrollIntoView = () => undefined;
    expect(screen.queryByLabelText(/Leaf/)).toBeNull();
    fireEvent.click(screen.getByText("reveal"));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText(/Leaf/)));
    fireEvent.click(screen.getByRole("button", { name: /^Outer/ }));
    await waitFor(() => expect(screen.queryByLabelText(/Leaf/)).toBeNull());
  });
  test("is shown even if it is one of very many", async () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, { title: `Field ${i}`, type: "string" }]));
    shown({ properties }, { reveal: { path: ["f150"] } });
    fireEvent.click(screen.getByText("reveal"));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Field 150")));
  });
  test("is reached from the error summary", async () => {
    window.HTMLElement.prototype.scrollIntoView = () => undefined;
    shown({ required: ["first", "second"], properties: { first: { type: "string", title: "First" }, second: { type: "integer", title: "Second GB" } } });
    next();
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("2 fields are invalid");
    fireEvent.click(screen.getByRole("button", { name: "Second: This field is required." }));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Second (GB)" })));
  });
});
