import type { Page } from "@playwright/test";
import { formOf, pushTemplates, tasksOf, test, removeProvider } from "./ann";
import { control, expect, catalogReady, show, tabTo, toReview } from "./journey";

const template = "crates.journey.example.org";

// crate returns a definition with these fields in addition to the size.
function crate(fields: string) {
  return `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: crates.journey.example.org
  labels: {openportal.dev/ingest: "true", terasky.backstage.io/generate-form: "true"}
spec:
  scope: Namespaced
  group: journey.example.org
  names: {kind: Crate, plural: crates}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: {type: string, enum: [small, large]}
${fields.trim().replace(/^/gm, " ".repeat(16))}
`;
}

const all = `
count: {type: integer, minimum: 1, maximum: 10, x-ui-order: 1}
port: {x-kubernetes-int-or-string: true}
marks: {type: object, additionalProperties: {type: string}}
rules: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: number}}}}
extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
zone: {type: string, x-ui-advanced: true, pattern: '^[a-z]+$'}
source:
  type: object
  properties: {url: {type: string}, path: {type: string}}
  oneOf: [{required: [url]}, {required: [path]}]
`;

const hush = {
  parameters: [{ title: "Hush", required: ["name", "token"], properties: { name: { type: "string", title: "Name" }, token: { type: "string", title: "Token", "ui:field": "Secret", minLength: 8 } } }],
  steps: [{ id: "say", name: "Say it", action: "debug:log", input: { message: "the token is ${{ secrets.token }}" } }],
};

test.beforeAll(async () => {
  await catalogReady();
  await pushTemplates("form", { "form-hush": hush });
});
test.afterAll(async () => {
  await removeProvider("form");
  // Apply the definition first, because it exists only if a test created it.
  await control("/cluster/apply", crate(all));
  await control("/cluster/request", "", { method: "DELETE", path: "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/crates.journey.example.org" });
});

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

test("every widget validates its input and sends its value", async ({ page }) => {
  await control("/cluster/apply", crate(all));
  await formOf(template, (form) => form.includes("x-ui-order") || form.includes('"rules"'));
  await page.goto(`/create/default/${template}`);
  await field(page, "Name").fill("widgets");
  // The owner picker searches the catalog.
  const owner = page.getByRole("combobox", { name: "Owner" });
  await owner.fill("shop");
  await page.getByRole("option", { name: /group:default\/shop-team/ }).click();
  await expect(owner).toHaveValue("group:default/shop-team");
  await page.getByRole("button", { name: "Next" }).click();

  // With several invalid fields, each shows its error and the first gets the focus.
  await field(page, "Count").fill("99");
  await field(page, "Extra").fill("a: 1\nb: [2\n");
  await page.getByRole("button", { name: "Advanced" }).click();
  await field(page, "Zone").fill("B7");
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("alert").first()).toContainText("fields are invalid");
  await expect(field(page, "Count")).toHaveAccessibleDescription(/10/);
  await expect(field(page, "Extra")).toHaveAccessibleDescription(/line \d+, column \d+/);
  await expect(field(page, "Zone")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("combobox", { name: "Size" })).toHaveAttribute("aria-invalid", "true");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-invalid"))).toBe("true");
  await show(page, "form-errors");
  // Each error of the summary leads to its field.
  await page.getByRole("alert").first().getByRole("button", { name: /^Zone/ }).click();
  await expect(field(page, "Zone")).toBeFocused();

  await field(page, "Count").fill("7");
  await page.getByRole("combobox", { name: "Size" }).click();
  await page.getByRole("option", { name: "large" }).click();
  await field(page, "Extra").fill("a: 1\nb: [2, two]\nc: {d: true}\n");
  await field(page, "Zone").fill("north");
  await field(page, "Port").fill("http");
  await page.getByRole("button", { name: "Add to Marks" }).click();
  await field(page, "Name of newKey").fill("team");
  await field(page, "Name of newKey").press("Tab");
  await field(page, "Value of team").fill("red");
  await page.getByRole("button", { name: "Add to Rules" }).click();
  const rule = page.getByRole("group", { name: "Entry 1" });
  await rule.getByRole("textbox", { name: "Name" }).fill("first");
  await rule.getByRole("textbox", { name: "Weight" }).fill("0.5");
  await page.getByRole("combobox", { name: "Source" }).click();
  await page.getByRole("option", { name: /path/i }).click();
  await field(page, "Path").fill("/in");
  await expect(field(page, "URL")).toHaveCount(0);
  // The manifest follows the input.
  await expect(page.getByRole("region", { name: "Manifest preview" })).toContainText("zone: north");
  await show(page, "form-widgets");
  await page.setViewportSize({ width: 390, height: 800 });
  await show(page, "form-narrow");
  expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), "the page scrolls sideways").toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await toReview(page);
  await expect(page.getByText("Dry run passed")).toBeVisible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page).toHaveURL(/\/tasks\//);
  await expect.poll(async () => (await tasksOf(template))[0]?.spec.parameters).toEqual({
    name: "widgets",
    namespace: "default",
    owner: "group:default/shop-team",
    size: "large",
    count: 7,
    port: "http",
    marks: { team: "red" },
    rules: [{ name: "first", weight: 0.5 }],
    extra: { a: 1, b: [2, "two"], c: { d: true } },
    zone: "north",
    source: { path: "/in" },
  });
});

test("a template changes while its form is open", async ({ page }) => {
  await control("/cluster/apply", crate("count: {type: integer, minimum: 1, maximum: 10}\nnote: {type: string}\n"));
  await formOf(template, (form) => form.includes('"note"'));
  await page.goto(`/create/default/${template}`);
  await field(page, "Name").fill("changed");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("combobox", { name: "Size" }).click();
  await page.getByRole("option", { name: "small" }).click();
  await field(page, "Count").fill("9");
  await field(page, "Note").fill("keep me");
  await toReview(page);
  await expect(page.getByText("Dry run passed")).toBeVisible();

  await control("/cluster/apply", crate("count: {type: integer, minimum: 1, maximum: 5}\nroom: {type: string}\n"));
  await formOf(template, (form) => form.includes('"room"'));
  const before = (await tasksOf(template)).length;
  await page.getByRole("button", { name: "Create" }).click();
  const note = page.getByRole("alert").filter({ hasText: "This form changed while you were editing" });
  await expect(note).toContainText("New fields: Room.");
  await expect(note).toContainText("Removed fields: Note.");
  await expect(note).toContainText("Changed fields: Count.");
  await expect(note).toContainText("Your value for Count was dropped: 9.");
  await expect(note).toContainText("Your value for Note was dropped: keep me.");
  await show(page, "create-changed");
  expect(await tasksOf(template)).toHaveLength(before);
  await expect(field(page, "Name")).toHaveValue("changed");
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("combobox", { name: "Size" })).toHaveValue("small");
  await field(page, "Room").fill("cellar");
  await toReview(page);
  await expect(page.getByText("Dry run passed")).toBeVisible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page).toHaveURL(/\/tasks\//);
  expect((await tasksOf(template))[0]?.spec.parameters).toMatchObject({ name: "changed", size: "small", room: "cellar" });
});

test("a draft is restored in another tab and can be discarded", async ({ page, context }) => {
  await page.goto("/create/default/form-hush");
  await field(page, "Name").fill("started");
  await page.getByLabel(/^Token/).first().fill("short-no-more");
  await page.close();
  const other = await context.newPage();
  await other.goto("/create/default/form-hush");
  await expect(other.getByText(/^Restored your draft from/)).toBeVisible();
  await expect(field(other, "Name")).toHaveValue("started");
  await expect(other.getByLabel(/^Token/).first()).toHaveValue("");
  await other.getByRole("button", { name: "Discard draft" }).click();
  await expect(field(other, "Name")).toHaveValue("");
  await expect(other.getByText(/^Restored your draft from/)).toHaveCount(0);
});

test("by keyboard alone, with a secret that is not stored", async ({ page }) => {
  await page.goto("/create/default/form-hush");
  await tabTo(page, field(page, "Name"));
  await page.keyboard.type("quiet");
  const token = page.getByLabel(/^Token/).first();
  await tabTo(page, token);
  await page.keyboard.type("short");
  // Enter submits the form; the invalid field gets the focus.
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("Token");
  await expect(token).toBeFocused();
  await page.keyboard.type("-no-more");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Your input" })).toBeFocused();
  await expect(page.getByText("short-no-more")).toHaveCount(0);
  await expect(page.getByText("Dry run passed")).toBeVisible();
  await tabTo(page, page.getByRole("button", { name: "Create" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  await expect(page.getByRole("log")).toContainText("the token is ***");
  // The browser storage does not hold the secret either.
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain("short-no-more");
  expect(JSON.stringify(await tasksOf("form-hush"))).not.toContain("short-no-more");
});
