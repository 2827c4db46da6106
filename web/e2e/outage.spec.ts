import { atMost, control, expect, catalogReady, show, test } from "./journey";

test.beforeAll(catalogReady);

// Restart the portal, whatever the result of the test.
test.afterEach(() => control("/portal/up"));

test("the portal goes down and recovers", async ({ page, pageErrors }) => {
  await page.goto("/catalog");
  const table = page.getByRole("grid", { name: "Entities" });
  await expect(table.getByRole("link").first()).toBeVisible();
  await control("/portal/down");
  await page.getByRole("searchbox", { name: "Search the catalog" }).fill("anything");
  await expect(page.getByText("Cannot reach the portal. Check your network connection, then try again.")).toBeVisible({ timeout: 30_000 });
  // The banner says since when, and tries again.
  await expect(page.getByText(/No connection to the portal\. Last connected at/)).toBeVisible();
  await show(page, "catalog-gone");

  // A page whose code is not loaded yet cannot be shown. It is not called outdated, and comes by itself.
  await page.getByRole("link", { name: "Ingestion", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Cannot load this page" })).toBeVisible();
  await expect(page.getByText(/version/)).toHaveCount(0);
  await show(page, "page-gone");
  await control("/portal/up");
  await page.getByRole("button", { name: "Retry now" }).click();
  await expect(page.getByRole("heading", { name: "Ingestion", level: 1 })).toBeVisible();
  await expect(page.getByText("No connection to the portal")).toHaveCount(0);
  // The browser logs every failed connection.
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !/ERR_CONNECTION_REFUSED|Unable to preload CSS|dynamically imported module/.test(m)));
});

test("an expired token is renewed", async ({ page, pageErrors }) => {
  let refused = 0;
  await page.route("**/api/catalog/entities/by-query", async (route) => {
    if (refused++ === 0) {
      await route.fulfill({ status: 403, contentType: "application/json", body: JSON.stringify({ error: { name: "AuthenticationError", message: "Illegal token" } }) });
      return;
    }
    await route.continue();
  });
  await page.goto("/catalog");
  await expect(page.getByRole("grid", { name: "Entities" }).getByRole("link").first()).toBeVisible();
  expect(refused).toBeGreaterThan(1);
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("403")));
});

test("the portal is unreachable at first", async ({ page, pageErrors }) => {
  await page.route("**/api/auth/providers", (route) => route.abort());
  await page.goto("/catalog?kind=API");
  await expect(page.getByRole("heading", { name: "No connection to the portal" })).toBeVisible();
  await show(page, "signin-gone");
  await page.unroute("**/api/auth/providers");
  await page.getByRole("button", { name: "Retry" }).click();
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  await expect(page).toHaveURL(/kind=API/);
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("ERR_FAILED")));
});

test("the first page is fast and small", async ({ browser, baseURL }) => {
  // On a busy machine one load may be slow; a slow page is slow every time.
  let paint = Infinity;
  let bytes = 0;
  for (let turn = 0; turn < 5 && paint >= atMost(1000); turn++) {
    const context = await browser.newContext({ baseURL });
    const page = await context.newPage();
    await page.goto("/catalog");
    await expect(page.getByRole("grid", { name: "Entities" }).getByRole("link").first()).toBeVisible();
    const seen = await page.evaluate(() => {
      const scripts = performance.getEntriesByType("resource").filter((r): r is PerformanceResourceTiming => r instanceof PerformanceResourceTiming && r.name.endsWith(".js"));
      return {
        paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
        bytes: scripts.reduce((sum, s) => sum + s.encodedBodySize, 0),
      };
    });
    paint = Math.min(paint, seen.paint);
    bytes = seen.bytes;
    await context.close();
  }
  console.log(`first paint after ${Math.round(paint)} ms, ${bytes} bytes of script`);
  expect(bytes, "bytes of script, compressed").toBeLessThan(200 * 1024);
  expect(paint, "milliseconds to the first paint").toBeLessThan(atMost(1000));
});
