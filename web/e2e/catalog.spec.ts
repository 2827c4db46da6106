import { expect, catalogReady, service, show, signIn, tabTo, test } from "./journey";

test.beforeAll(catalogReady);

test("a new user finds and opens a template", async ({ page, pageErrors }) => {
  await page.goto("/catalog");
  await expect(page.getByRole("heading", { name: "Catalog", level: 1 })).toBeVisible();
  const table = page.getByRole("grid", { name: "Entities" });
  await expect(table.getByRole("row").nth(1)).toBeVisible();
  await show(page, "catalog");

  await page.getByRole("group", { name: "Kind" }).getByLabel("Template").check();
  await expect(page).toHaveURL(/kind=Template/);
  await expect(table.getByRole("row").nth(1)).toContainText("Template");
  await expect(table).not.toContainText("crossplane-xrd");

  await page.getByRole("searchbox", { name: "Search the catalog" }).fill("datab");
  await expect(page).toHaveURL(/q=datab/);
  await expect(table.getByRole("row").nth(1)).toContainText(/database/i);

  // The URL holds the state of the page.
  await page.reload();
  await expect(page.getByRole("searchbox", { name: "Search the catalog" })).toHaveValue("datab");
  await expect(page.getByRole("group", { name: "Kind" }).getByLabel("Template")).toBeChecked();

  await table.getByRole("row").nth(1).getByRole("link").first().click();
  await expect(page).toHaveURL(/\/catalog\/default\/template\//);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/kind=Template&?|q=datab/);
  expect(pageErrors).toEqual([]);
});

test("the same by keyboard alone", async ({ page, pageErrors }) => {
  await page.goto("/catalog");
  const table = page.getByRole("grid", { name: "Entities" });
  await expect(table.getByRole("row").nth(1).getByRole("link").first()).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox", { name: "Search the catalog" })).toBeFocused();
  await page.keyboard.type("database");
  await expect(page).toHaveURL(/q=database/);
  await expect(table).not.toHaveAttribute("aria-busy", "true");
  // The search also matches descriptions, so the first row may be a team.
  await expect(table.getByRole("link", { name: "Database", exact: true })).toBeVisible();
  const links = table.locator("a[data-row-link]");
  await links.first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(links.nth(1)).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(links.first()).toBeFocused();
  await page.keyboard.press("End");
  await expect(links.last()).toBeFocused();
  await page.keyboard.press("Home");
  await expect(links.first()).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/catalog\/default\//);
  expect(pageErrors).toEqual([]);
});

test("no results, then clear the filters", async ({ page, pageErrors }) => {
  await page.goto("/catalog?q=nosuchword&kind=Template");
  await expect(page.getByText("No results")).toBeVisible();
  await show(page, "catalog-empty");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(/\/catalog$/);
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test("an unknown path", async ({ page, pageErrors }) => {
  await page.goto("/nosuch");
  await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  await show(page, "not-found");
  await page.getByRole("searchbox", { name: "Search the catalog" }).fill("database");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/catalog\?q=database$/);
  expect(pageErrors).toEqual([]);
});

test("a product is one row, until all entities are shown", async ({ page, pageErrors }) => {
  await page.goto("/catalog?q=database");
  const table = page.getByRole("grid", { name: "Entities" });
  const row = table.getByRole("row").filter({ has: page.getByRole("link", { name: "Database", exact: true }) });
  await expect(row).toBeVisible();
  await expect(table.getByRole("link", { name: "Database API" })).toHaveCount(0);
  await expect(table.getByRole("link", { name: /^(Update|Delete) Database/ })).toHaveCount(0);
  await row.getByRole("link", { name: "API", exact: true }).click();
  await expect(page).toHaveURL(/\/catalog\/default\/api\//);
  await page.goBack();
  await row.getByRole("link", { name: "Create", exact: true }).click();
  await expect(page).toHaveURL(/\/create\/default\//);
  await page.goBack();
  await page.getByRole("switch", { name: "Show all entities" }).check({ force: true });
  await expect(page).toHaveURL(/all=true/);
  await expect(table.getByRole("link", { name: "Database API" })).toBeVisible();
  await expect(row.getByRole("link", { name: "API", exact: true })).toHaveCount(0);
  expect(pageErrors).toEqual([]);
});

test("a narrow screen", async ({ page, pageErrors }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/catalog");
  await expect(page.getByRole("grid", { name: "Entities" }).getByRole("link").first()).toBeVisible();
  await show(page, "catalog-narrow");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(wide, "the page scrolls sideways").toBe(false);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("group", { name: "Kind" }).getByLabel("API").check();
  await expect(page).toHaveURL(/kind=API/);
  await page.getByRole("button", { name: "Open navigation" }).click();
  await page.getByRole("link", { name: "Playground" }).click();
  await expect(page).toHaveURL(/\/playground/);
  expect(pageErrors.filter((m) => !m.includes("/api/"))).toEqual([]);
});

test("sign-in returns to the same page", async ({ browser, baseURL }) => {
  // The issuer uses a self-signed certificate.
  const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL });
  const page = await context.newPage();
  await page.goto("/catalog?kind=API");
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  await signIn(page);
  await expect(page).toHaveURL(/\/catalog\?kind=API/);
  await page.reload();
  await page.getByRole("button", { name: "Signed in as ann" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await page.getByRole("button", { name: "Continue as guest" }).click();
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  await context.close();
});

test.describe("status", () => {
  const provider = "journey-status";
  test.beforeAll(async () => {
    const lines = Object.entries({
      "status-fine": { readiness: "ready", owner: "user:default/ann", since: "2026-01-01T00:00:00Z" },
      "status-broken": { readiness: "not ready", owner: "user:default/ann" },
      "status-foreign": { readiness: "not ready", owner: "group:default/strangers" },
      "status-lost": { readiness: "ready", owner: "user:default/ann", stale: "prod/composites" },
    }).map(([name, { readiness, owner, since, stale }]: [string, { readiness: string; owner: string; since?: string; stale?: string }]) =>
      JSON.stringify({
        apiVersion: "backstage.io/v1alpha1",
        kind: "Resource",
        metadata: { name, annotations: stale === undefined ? {} : { "backstage.io/stale": stale } },
        spec: { type: "status", owner, readiness, ...(since === undefined ? {} : { readinessSince: since }) },
      }),
    );
    await service(`/api/catalog/providers/${provider}/entities`, { method: "PUT", body: lines.join("\n"), headers: { "Content-Type": "application/x-ndjson" } });
  });
  test.afterAll(() => service(`/api/catalog/providers/${provider}`, { method: "DELETE" }));

  test("what is not ready, and what is not known", async ({ page, pageErrors }) => {
    await page.goto("/catalog?type=status");
    const table = page.getByRole("grid", { name: "Entities" });
    const row = (name: string) => table.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
    await expect(row("status-fine").locator("[data-column=status]")).toHaveText("Ready");
    await expect(row("status-broken").locator("[data-column=status]")).toHaveText("Not ready");
    // A cluster that is down says nothing about what runs in it.
    await expect(row("status-lost").locator("[data-column=status]")).toHaveText(/^Unknown, last known: readystale$/i);
    await expect(row("status-lost").getByTitle("last known: ready").last()).toBeVisible();
    await show(page, "catalog-status");

    const status = page.getByRole("group", { name: "Status" });
    await status.getByLabel("Ready", { exact: true }).check();
    await expect(page).toHaveURL(/status=ready/);
    await expect(table.getByRole("link")).toHaveText(["status-fine"]);
    await status.getByLabel("Ready", { exact: true }).uncheck();
    await status.getByLabel("Unknown").check();
    await expect(table.getByRole("link")).toHaveText(["status-lost"]);
    await expect(page.getByRole("button", { name: "Not ready, owned by me" })).toHaveCount(0);
    expect(pageErrors).toEqual([]);
  });

  test("what is not ready and mine, by keyboard and on a narrow screen", async ({ browser, baseURL }) => {
    // The issuer uses a self-signed certificate.
    const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL });
    const page = await context.newPage();
    await page.goto("/catalog?type=status");
    await signIn(page);
    const table = page.getByRole("grid", { name: "Entities" });
    await expect(table.getByRole("link")).toHaveCount(4);
    const mine = page.getByRole("button", { name: "Not ready, owned by me" });
    await tabTo(page, mine);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/status=not\+ready&mine=true/);
    await expect(table.getByRole("link")).toHaveText(["status-broken"]);
    await expect(mine).toHaveAttribute("aria-pressed", "true");
    await show(page, "catalog-mine");
    await page.reload();
    await expect(table.getByRole("link")).toHaveText(["status-broken"]);

    await page.setViewportSize({ width: 390, height: 800 });
    await expect(table.getByRole("row").nth(1)).toContainText("Not ready");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    expect(wide, "the page scrolls sideways").toBe(false);
    await show(page, "catalog-mine-narrow");
    await mine.click();
    await expect(page).toHaveURL(/\/catalog\?type=status$/);
    await expect(table.getByRole("link")).toHaveCount(4);
    await context.close();
  });
});
