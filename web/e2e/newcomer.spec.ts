import { type Page } from "@playwright/test";
import { test } from "./ann";
import { control, expect, filled, show, tabTo } from "./journey";

test.beforeAll(filled);

const databases = "/apis/platform.example.org/v1alpha1/namespaces/databases/databases";
const made: string[] = [];

test.afterAll(async () => {
  for (const name of made) {
    await control("/cluster/request", "", { method: "DELETE", path: `${databases}/${name}` });
  }
});

// applied is the manifest that the review must show.
function applied(name: string, engine: string, composition: string): string[] {
  return ["apiVersion: platform.example.org/v1alpha1", "kind: Database", `name: ${name}`, "namespace: databases", "backstage.io/owner: group:default/shop-team", `engine: ${engine}`, "highlyAvailable: true", "storageGB: 50", "- 10.1.0.0/16", "retentionDays: 30", `name: ${composition}`];
}

// reviewed sees what will be done.
async function reviewed(page: Page, manifest: string[]) {
  await expect(page.getByRole("heading", { name: "What you filled in" })).toBeFocused();
  await expect(page.getByRole("region", { name: "Apply Database" })).toContainText("would work");
  const shown = page.getByRole("region", { name: "The manifest as it would be applied" });
  for (const line of manifest) {
    await expect(shown).toContainText(line);
  }
}

// done sees the task: its log, how long its step took, and what came of it, which becomes ready while one looks.
async function done(page: Page, name: string) {
  await expect(page).toHaveURL(/\/tasks\//);
  made.push(name);
  await expect(page.getByRole("heading", { name: `Database ${name}`, level: 1 })).toBeVisible();
  await expect(page.getByRole("log")).toContainText(`Database databases/${name} in cluster dev was created`);
  await expect(page.getByRole("button", { name: /^Apply Database [\d.]+ (ms|s) done$/ })).toBeVisible();
  await expect(page.getByRole("region", { name: "What came of it" })).toContainText(`Database ${name} in namespace databases`);
  await expect(page.getByRole("main").getByText("It is ready to use.")).toBeVisible();
}

// inColour is whether the mark of a node in the graph is green.
async function inColour(page: Page, node: RegExp) {
  const colour = await page.getByRole("link", { name: node }).locator("svg").evaluate((mark) => getComputedStyle(mark).color);
  const [red, green, blue] = colour.match(/[\d.]+/g)!.map(Number) as [number, number, number];
  expect(green, `the mark is ${colour}`).toBeGreaterThan(Math.max(red, blue));
}

test("a newcomer finds a template, fills it, and sees the resource become ready", async ({ page, mistakes }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Catalog", level: 1 })).toBeVisible();
  await page.getByRole("link", { name: "Create", exact: true }).click();
  await expect(page.getByRole("link", { name: "Database", exact: true })).toBeVisible();
  await show(page, "create");
  await page.getByRole("searchbox", { name: "Search" }).fill("postgres");
  await expect(page.getByText("1 template", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Database", exact: true }).click();

  // What is missing is said at its field.
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveAccessibleDescription(/Fill this in\./);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("invoices");
  await page.getByRole("combobox", { name: "Owner" }).fill("shop");
  await page.getByRole("option", { name: /shop-team/ }).click();
  await page.getByRole("button", { name: "Next" }).click();

  await page.getByRole("combobox", { name: "Engine" }).click();
  await page.getByRole("option", { name: "mysql" }).click();
  await page.getByRole("textbox", { name: "Storage GB" }).fill("5");
  await page.getByRole("button", { name: "Add to Allowed CIDRs" }).click();
  await page.getByRole("group", { name: "Allowed CIDRs" }).getByRole("textbox").fill("10.1.0.0/16");
  await page.getByRole("textbox", { name: "Retention Days" }).fill("30");
  await page.getByRole("checkbox", { name: "Highly Available" }).check();
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("textbox", { name: "Storage GB" })).toHaveAccessibleDescription(/10/);
  await page.getByRole("textbox", { name: "Storage GB" }).fill("50");
  await page.evaluate(() => window.scrollTo(0, 0));
  await show(page, "form");
  await page.getByRole("button", { name: "Next" }).click();

  await page.getByRole("combobox", { name: "Composition" }).click();
  await page.getByRole("option", { name: "database-mysql" }).click();
  await page.getByRole("button", { name: "Review" }).last().click();
  await reviewed(page, applied("invoices", "mysql", "database-mysql"));
  await show(page, "review");

  await page.getByRole("button", { name: "Create", exact: true }).click();
  await done(page, "invoices");
  await show(page, "task");
  await page.getByRole("link", { name: "See it in the catalog" }).click();

  await expect(page.getByRole("heading", { name: "invoices", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Relations" })).toContainText("database-mysql");
  await show(page, "newcomer-overview");
  await page.getByRole("tab", { name: "Conditions" }).click();
  await expect(page.getByRole("row", { name: /^Ready True/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /^Synced True/ })).toBeVisible();
  await page.getByRole("tab", { name: "Graph" }).click();
  await expect(page.getByRole("link", { name: /^xdatabases.platform.example.org, definition/ })).toBeVisible();
  await expect(page.getByRole("link", { name: /^database-mysql, composition/ })).toBeVisible();
  await expect(page.getByRole("link", { name: "invoices, resource, ready, this entity" })).toBeVisible();
  await inColour(page, /^invoices, resource, ready/);
  await show(page, "newcomer-graph");

  // What one has started is kept.
  await page.goto("/tasks");
  await expect(page.getByRole("link", { name: "Database invoices" })).toBeVisible();
  await show(page, "newcomer-tasks");
  expect(mistakes).toEqual([]);
});

test("a newcomer does the same by keyboard alone", async ({ page, mistakes }) => {
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await page.keyboard.press(key);
    }
  };
  // choose takes another value of a list that opens below a field.
  const choose = async (field: string, option: string) => {
    await tabTo(page, page.getByRole("combobox", { name: field, exact: true }));
    await press("ArrowDown");
    const wanted = page.getByRole("option", { name: option });
    await expect(wanted).toBeVisible();
    for (let i = 0; i < 10 && (await wanted.getAttribute("data-combobox-selected")) === null; i++) {
      await press("ArrowDown");
    }
    await press("Enter");
    await expect(page.getByRole("combobox", { name: field, exact: true })).toHaveValue(option);
  };
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Catalog", level: 1 })).toBeVisible();
  await tabTo(page, page.getByRole("link", { name: "Create", exact: true }));
  await press("Enter");
  await expect(page.getByRole("link", { name: "Database", exact: true })).toBeVisible();
  await press("/");
  await expect(page.getByRole("searchbox", { name: "Search" })).toBeFocused();
  await page.keyboard.type("postgres");
  await expect(page.getByText("1 template", { exact: true })).toBeVisible();
  await tabTo(page, page.getByRole("link", { name: "Database", exact: true }));
  await press("Enter");

  const name = page.getByRole("textbox", { name: "Name", exact: true });
  await tabTo(page, name);
  // Enter goes on, and back to what is missing.
  await press("Enter");
  await expect(name).toHaveAccessibleDescription(/Fill this in\./);
  await tabTo(page, name);
  await page.keyboard.type("ledger");
  await tabTo(page, page.getByRole("combobox", { name: "Owner" }));
  await page.keyboard.type("shop");
  await expect(page.getByRole("option", { name: /shop-team/ })).toBeVisible();
  await press("ArrowDown", "Enter");
  await expect(page.getByRole("combobox", { name: "Owner" })).toHaveValue("group:default/shop-team");
  await tabTo(page, page.getByRole("button", { name: "Next" }));
  await press("Enter");

  await expect(page.getByRole("heading", { name: "Database", level: 2 })).toBeFocused();
  await choose("Engine", "mysql");
  await tabTo(page, page.getByRole("textbox", { name: "Storage GB" }));
  await press("Control+a");
  await page.keyboard.type("50");
  await tabTo(page, page.getByRole("button", { name: "Add to Allowed CIDRs" }));
  await press("Enter");
  await tabTo(page, page.getByRole("group", { name: "Allowed CIDRs" }).getByRole("textbox"));
  await page.keyboard.type("10.1.0.0/16");
  await tabTo(page, page.getByRole("textbox", { name: "Retention Days" }));
  await press("Control+a");
  await page.keyboard.type("30");
  await tabTo(page, page.getByRole("checkbox", { name: "Highly Available" }));
  await press("Space");
  await expect(page.getByRole("checkbox", { name: "Highly Available" })).toBeChecked();
  await tabTo(page, page.getByRole("button", { name: "Next" }));
  await press("Enter");
  await expect(page.getByRole("heading", { name: "Crossplane", level: 2 })).toBeFocused();
  await choose("Composition", "database-mysql");
  await tabTo(page, page.getByRole("button", { name: "Review" }).last());
  await press("Enter");

  await reviewed(page, applied("ledger", "mysql", "database-mysql"));
  await tabTo(page, page.getByRole("button", { name: "Create", exact: true }));
  await press("Enter");
  await done(page, "ledger");
  await tabTo(page, page.getByRole("button", { name: /^Apply Database/ }));
  await press("Enter");
  await expect(page.getByRole("log", { name: "Log of the step apply" })).toContainText("was created");
  await press("Enter");
  await press("Shift+Tab");
  await tabTo(page, page.getByRole("link", { name: "See it in the catalog" }));
  await press("Enter");

  await expect(page.getByRole("heading", { name: "ledger", level: 1 })).toBeVisible();
  await tabTo(page, page.getByRole("tab", { name: "Overview" }));
  await press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Graph" })).toBeFocused();
  const resource = page.getByRole("link", { name: "ledger, resource, ready, this entity" });
  await tabTo(page, resource);
  await press("ArrowLeft");
  await expect(page.getByRole("link", { name: /^database-mysql, composition/ })).toBeFocused();
  await press("ArrowLeft");
  await expect(page.getByRole("link", { name: /^xdatabases.platform.example.org, definition/ })).toBeFocused();
  await press("Home");
  await expect(resource).toBeFocused();
  await inColour(page, /^ledger, resource, ready/);
  await press("Shift+Tab");
  await tabTo(page, page.getByRole("tab", { name: "Graph" }));
  await press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Conditions" })).toBeFocused();
  await expect(page.getByRole("row", { name: /^Ready True/ })).toBeVisible();
  expect(mistakes).toEqual([]);
});
