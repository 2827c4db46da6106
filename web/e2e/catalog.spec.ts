import { expect, filled, show, signIn, test } from "./journey";

test.beforeAll(filled);

test("somebody new opens the portal, finds a template and looks at it", async ({ page, mistakes }) => {
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

  // What is seen is in the address.
  await page.reload();
  await expect(page.getByRole("searchbox", { name: "Search the catalog" })).toHaveValue("datab");
  await expect(page.getByRole("group", { name: "Kind" }).getByLabel("Template")).toBeChecked();

  await table.getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/\/catalog\/default\/template\//);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/kind=Template&?|q=datab/);
  expect(mistakes).toEqual([]);
});

test("the same by keyboard alone", async ({ page, mistakes }) => {
  await page.goto("/catalog");
  const table = page.getByRole("grid", { name: "Entities" });
  await expect(table.getByRole("row").nth(1).getByRole("link")).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox", { name: "Search the catalog" })).toBeFocused();
  await page.keyboard.type("database");
  await expect(page).toHaveURL(/q=database/);
  await expect(table).not.toHaveAttribute("aria-busy", "true");
  // Words of descriptions count too, so that the first row may be a team's.
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
  expect(mistakes).toEqual([]);
});

test("nothing fits, and there is a way back", async ({ page, mistakes }) => {
  await page.goto("/catalog?q=nosuchword&kind=Template");
  await expect(page.getByText("Nothing fits")).toBeVisible();
  await show(page, "catalog-empty");
  await page.getByRole("button", { name: "Show everything" }).click();
  await expect(page).toHaveURL(/\/catalog$/);
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  expect(mistakes).toEqual([]);
});

test("an address that leads nowhere", async ({ page, mistakes }) => {
  await page.goto("/nosuch");
  await expect(page.getByRole("heading", { name: "There is nothing at this address" })).toBeVisible();
  await page.getByRole("link", { name: "Look in the catalog" }).click();
  await expect(page).toHaveURL(/\/catalog$/);
  expect(mistakes).toEqual([]);
});

test("a narrow screen", async ({ page, mistakes }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/catalog");
  await expect(page.getByRole("grid", { name: "Entities" }).getByRole("link").first()).toBeVisible();
  await show(page, "catalog-narrow");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(wide, "the page scrolls sideways").toBe(false);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("group", { name: "Kind" }).getByLabel("API").check();
  await expect(page).toHaveURL(/kind=API/);
  await page.getByRole("button", { name: "Open the navigation" }).click();
  await page.getByRole("link", { name: "Playground" }).click();
  await expect(page).toHaveURL(/\/playground/);
  expect(mistakes.filter((m) => !m.includes("/api/"))).toEqual([]);
});

test("somebody signs in, and is back where they were", async ({ browser, baseURL }) => {
  // The issuer's certificate is its own.
  const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL });
  const page = await context.newPage();
  await page.goto("/catalog?kind=API");
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  await signIn(page);
  await expect(page).toHaveURL(/\/catalog\?kind=API/);
  await page.reload();
  await page.getByRole("button", { name: "You are ann" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await page.getByRole("button", { name: "Look around as a guest" }).click();
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  await context.close();
});
