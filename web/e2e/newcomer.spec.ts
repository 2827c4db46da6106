import { type Page } from "@playwright/test";
import { test } from "./ann";
import { control, countClicks, expect, catalogReady, show, tabTo } from "./journey";

test.beforeAll(catalogReady);

const databases = "/apis/platform.example.org/v1alpha1/namespaces/databases/databases";
const made: string[] = [];

test.afterAll(async () => {
  for (const name of made) {
    await control("/cluster/request", "", { method: "DELETE", path: `${databases}/${name}` });
  }
});

// applied returns the lines of the manifest that the review must show.
function applied(name: string, engine: string, composition: string): string[] {
  return ["apiVersion: platform.example.org/v1alpha1", "kind: Database", `name: ${name}`, "namespace: databases", "backstage.io/owner: group:default/shop-team", `engine: ${engine}`, "highlyAvailable: true", "storageGB: 50", "- 10.1.0.0/16", "retentionDays: 30", `name: ${composition}`];
}

// reviewed checks the review page.
async function reviewed(page: Page, manifest: string[]) {
  await expect(page.getByRole("heading", { name: "Your input" })).toBeFocused();
  await expect(page.getByRole("region", { name: "Apply Database" })).toContainText("Dry run passed");
  const shown = page.getByRole("region", { name: "Manifest preview" });
  for (const line of manifest) {
    await expect(shown).toContainText(line);
  }
}

// done checks the task page: its log, the duration of its step, and the created resource, which becomes ready.
async function done(page: Page, name: string) {
  await expect(page).toHaveURL(/\/tasks\//);
  made.push(name);
  await expect(page.getByRole("heading", { name: `Database ${name}`, level: 1 })).toBeVisible();
  await expect(page.getByRole("log")).toContainText(`Database databases/${name} in cluster dev was created`);
  await expect(page.getByRole("button", { name: /^Apply Database [\d.]+ (ms|s) Completed$/ })).toBeVisible();
  await expect(page.getByRole("region", { name: "Output" })).toContainText(`Database ${name} in namespace databases`);
  await expect(page.getByRole("main").getByText("The resource is ready.")).toBeVisible();
}

// isGreen checks that the mark of a node in the graph is green.
async function isGreen(page: Page, node: RegExp) {
  const colour = await page.getByRole("link", { name: node }).locator("svg").last().evaluate((mark) => getComputedStyle(mark).color);
  const [red, green, blue] = colour.match(/[\d.]+/g)!.map(Number) as [number, number, number];
  expect(green, `the mark is ${colour}`).toBeGreaterThan(Math.max(red, blue));
}

test("a new user creates a resource and sees it become ready", async ({ page, pageErrors }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.getByRole("link", { name: "Create", exact: true }).click();
  await expect(page.getByRole("main").getByRole("link", { name: "Database", exact: true })).toBeVisible();
  await show(page, "create");
  await page.getByRole("searchbox", { name: "Search" }).fill("postgres");
  await expect(page.getByText("1 template", { exact: true })).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "Database", exact: true }).click();

  // The missing value is reported at its field.
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveAccessibleDescription(/This field is required\./);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("invoices");
  await page.getByRole("combobox", { name: "Owner" }).fill("shop");
  await page.getByRole("option", { name: /shop-team/ }).click();
  await page.getByRole("button", { name: "Next" }).click();

  await page.getByRole("combobox", { name: "Engine" }).click();
  await page.getByRole("option", { name: "mysql" }).click();
  await page.getByRole("textbox", { name: "Storage (GB)" }).fill("5");
  await page.getByRole("button", { name: "Add to Allowed CIDRs" }).click();
  await page.getByRole("group", { name: "Allowed CIDRs" }).getByRole("textbox").fill("10.1.0.0/16");
  await page.getByRole("textbox", { name: "Retention (days)" }).fill("30");
  await page.getByRole("checkbox", { name: "Highly Available" }).check();
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("textbox", { name: "Storage (GB)" })).toHaveAccessibleDescription(/10/);
  await page.getByRole("textbox", { name: "Storage (GB)" }).fill("50");
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
  await page.getByRole("link", { name: "View in catalog" }).click();

  await expect(page.getByRole("heading", { name: "invoices", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Relations" })).toContainText("database-mysql");
  await show(page, "newcomer-overview");
  await page.getByRole("tab", { name: "Objects" }).click();
  await expect(page.getByRole("row", { name: /^Ready True/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /^Synced True/ })).toBeVisible();
  await page.getByRole("tab", { name: "Graph" }).click();
  await expect(page.getByRole("link", { name: /^xdatabases.platform.example.org, Definition/ })).toBeVisible();
  await expect(page.getByRole("link", { name: /^database-mysql, Composition/ })).toBeVisible();
  await expect(page.getByRole("link", { name: "invoices, Resource, Ready, this entity" })).toBeVisible();
  await isGreen(page, /^invoices, Resource, Ready/);
  await show(page, "newcomer-graph");

  // The task list holds the task.
  await page.goto("/tasks");
  await expect(page.getByRole("link", { name: "Database invoices" })).toBeVisible();
  await show(page, "newcomer-tasks");
  expect(pageErrors).toEqual([]);
});

test("a resource with defaults takes three clicks from the home page", async ({ page, pageErrors }) => {
  const clicks = await countClicks(page);
  await page.goto("/");
  await page.getByRole("region", { name: "Create" }).getByRole("link", { name: "Database", exact: true }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("receipts");
  await expect(page.getByRole("region", { name: "Manifest preview" })).toContainText("name: receipts");
  await page.getByRole("button", { name: "Skip to review" }).click();
  await expect(page.getByRole("region", { name: "Apply Database" })).toContainText("Dry run passed");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await done(page, "receipts");
  expect(await clicks()).toBe(3);
  expect(pageErrors).toEqual([]);
});

test("a new user does the same by keyboard alone", async ({ page, pageErrors }) => {
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await page.keyboard.press(key);
    }
  };
  // choose selects an option of a select field.
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
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await tabTo(page, page.getByRole("link", { name: "Create", exact: true }));
  await press("Enter");
  await expect(page.getByRole("main").getByRole("link", { name: "Database", exact: true })).toBeVisible();
  await press("/");
  await expect(page.getByRole("searchbox", { name: "Search" })).toBeFocused();
  await page.keyboard.type("postgres");
  await expect(page.getByText("1 template", { exact: true })).toBeVisible();
  await tabTo(page, page.getByRole("main").getByRole("link", { name: "Database", exact: true }));
  await press("Enter");

  const name = page.getByRole("textbox", { name: "Name", exact: true });
  await tabTo(page, name);
  // Enter submits the page and moves the focus to the missing field.
  await press("Enter");
  await expect(name).toHaveAccessibleDescription(/This field is required\./);
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
  await tabTo(page, page.getByRole("textbox", { name: "Storage (GB)" }));
  await press("Control+a");
  await page.keyboard.type("50");
  await tabTo(page, page.getByRole("button", { name: "Add to Allowed CIDRs" }));
  await press("Enter");
  await tabTo(page, page.getByRole("group", { name: "Allowed CIDRs" }).getByRole("textbox"));
  await page.keyboard.type("10.1.0.0/16");
  await tabTo(page, page.getByRole("textbox", { name: "Retention (days)" }));
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
  await expect(page.getByRole("log", { name: "Log of step apply" })).toContainText("was created");
  await press("Enter");
  await press("Shift+Tab");
  await tabTo(page, page.getByRole("link", { name: "View in catalog" }));
  await press("Enter");

  await expect(page.getByRole("heading", { name: "ledger", level: 1 })).toBeVisible();
  await tabTo(page, page.getByRole("tab", { name: "Overview" }));
  await press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Graph" })).toBeFocused();
  const resource = page.getByRole("link", { name: "ledger, Resource, Ready, this entity" });
  await tabTo(page, resource);
  await press("ArrowLeft");
  await expect(page.getByRole("link", { name: /^database-mysql, Composition/ })).toBeFocused();
  await press("ArrowLeft");
  await expect(page.getByRole("link", { name: /^xdatabases.platform.example.org, Definition/ })).toBeFocused();
  await press("Home");
  await expect(resource).toBeFocused();
  await isGreen(page, /^ledger, Resource, Ready/);
  await press("Shift+Tab");
  await tabTo(page, page.getByRole("tab", { name: "Graph" }));
  await press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Objects" })).toBeFocused();
  await expect(page.getByRole("row", { name: /^Ready True/ })).toBeVisible();
  expect(pageErrors).toEqual([]);
});
