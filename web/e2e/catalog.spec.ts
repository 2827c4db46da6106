import { expect, catalogReady, show, signIn, test } from "./journey";

test.beforeAll(catalogReady);

test("a new user finds and opens a template", async ({ page, pageErrors }) => {
  await page.goto("/");
  await expect(page).toHaveURL(/\/catalog$/);
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

  await table.getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/\/catalog\/default\/template\//);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/kind=Template&?|q=datab/);
  expect(pageErrors).toEqual([]);
});

test("the same by keyboard alone", async ({ page, pageErrors }) => {
  await page.goto("/catalog");
  const table = page.getByRole("grid", { name: "Entities" });
  await expect(table.getByRole("row").nth(1).getByRole("link")).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox", { name: "Search the catalog" })).toBeFocused();
  await page.keyboard.type("database");
  await expect(page).toHaveURL(/q=database/);
  await expect(table).not.toHaveAttribute("aria-busy", "true");
  // The search also matches descriptions, so the first row may be a team.
  await expect(table.getByRole("link", { name: "Database", exact: true })).toBeVisible();
  const links = table.getByRole("link");
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
  await page.getByRole("link", { name: "Go to catalog" }).click();
  await expect(page).toHaveURL(/\/catalog$/);
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
