import { catalogReady, expect, show, sizes, signIn, tabTo, test } from "./journey";

test.beforeAll(catalogReady);

test("the home page shows resources, forms, tasks and sources", async ({ page, pageErrors }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Home", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Create" }).getByRole("link", { name: "Database", exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Changed in the last 24 hours" }).getByRole("listitem").first()).toBeVisible();
  await show(page, "home");
  expect(pageErrors).toEqual([]);
});

test("search finds what is misspelled, by keyboard alone", async ({ page, pageErrors }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox", { name: "Search everything" })).toBeFocused();
  await show(page, "search");
  await page.keyboard.type("databse");
  const chosen = page.getByRole("option", { selected: true });
  await expect(chosen).toContainText("Database");
  await show(page, "search-results");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/create\/default\/xdatabases/);
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox", { name: "Search everything" })).toBeFocused();
  await page.keyboard.type("nosuchthinganywhere");
  await expect(page.getByText("No results for “nosuchthinganywhere”")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(pageErrors).toEqual([]);
});

test("shortcuts", async ({ page, pageErrors }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await show(page, "shortcuts");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await expect(page).toHaveURL(/\/catalog$/);
  expect(pageErrors).toEqual([]);
});

test("stars and views are kept with the user", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL });
  const page = await context.newPage();
  await page.goto("/");
  await signIn(page);
  await expect(page.getByRole("heading", { name: /^Welcome, / })).toBeVisible();
  await expect(page.getByRole("region", { name: "My tasks" })).toBeVisible();
  const star = page.getByRole("button", { name: "Star Database", exact: true });
  await tabTo(page, star);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Unstar Database" })).toBeVisible();
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(page.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name: "Database" })).toBeVisible();
  await show(page, "home-user");

  await page.goto("/catalog?kind=API");
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByRole("textbox", { name: "View name" }).fill("All APIs");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("region", { name: "Views" }).getByRole("link", { name: "All APIs" })).toBeVisible();

  // Another browser of the same user has both.
  const other = await browser.newContext({ ignoreHTTPSErrors: true, baseURL });
  const again = await other.newPage();
  await again.setViewportSize({ width: 1440, height: 900 });
  await again.goto("/catalog");
  await signIn(again);
  await expect(again.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name: "Database" })).toBeVisible();
  await show(again, "catalog-views");
  await again.getByRole("link", { name: "All APIs" }).click();
  await expect(again).toHaveURL(/kind=API/);
  await other.close();

  // Later journeys find one link to the form.
  await page.goto("/");
  await page.getByRole("button", { name: "Unstar Database" }).click();
  await expect(page.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name: "Database" })).toHaveCount(0);
  await context.close();
});

test("the page of components", async ({ page, pageErrors }) => {
  await page.goto("/design");
  await expect(page.getByRole("heading", { name: "Design", level: 1 })).toBeVisible();
  await show(page, "design");
  for (const { width, height } of [sizes.desktop, sizes.phone]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
      await expect(page.getByRole("main")).toHaveScreenshot(`design-${width}-${colorScheme}.png`);
    }
  }
  expect(pageErrors).toEqual([]);
});
