import { atMost, control, expect, filled, show, test } from "./journey";

test.beforeAll(filled);

// A bad day ends, whatever became of the journey.
test.afterEach(() => control("/portal/up"));

test("the portal is gone for a while, and comes back", async ({ page, mistakes }) => {
  await page.goto("/catalog");
  const table = page.getByRole("grid", { name: "Entities" });
  await expect(table.getByRole("link").first()).toBeVisible();
  await control("/portal/down");
  await page.getByRole("searchbox", { name: "Search the catalog" }).fill("anything");
  await expect(page.getByText("The portal does not answer. Check that it runs and that you are online, then try again.")).toBeVisible({ timeout: 30_000 });
  await show(page, "catalog-gone");
  await control("/portal/up");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  // The browser itself writes of every connection that failed.
  mistakes.splice(0, mistakes.length, ...mistakes.filter((m) => !m.includes("ERR_CONNECTION_REFUSED")));
});

test("the token is no longer good, and nobody notices", async ({ page, mistakes }) => {
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
  mistakes.splice(0, mistakes.length, ...mistakes.filter((m) => !m.includes("403")));
});

test("the portal is not there at first", async ({ page, mistakes }) => {
  await page.route("**/api/auth/providers", (route) => route.abort());
  await page.goto("/catalog?kind=API");
  await expect(page.getByRole("heading", { name: "The portal does not answer" })).toBeVisible();
  await show(page, "signin-gone");
  await page.unroute("**/api/auth/providers");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("grid", { name: "Entities" })).toBeVisible();
  await expect(page).toHaveURL(/kind=API/);
  mistakes.splice(0, mistakes.length, ...mistakes.filter((m) => !m.includes("ERR_FAILED")));
});

test("the first page is quick, and small", async ({ browser, baseURL }) => {
  // On a busy machine one load may be late; a page that is slow is late each time.
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
  expect(bytes, "bytes of script, compressed").toBeLessThan(200 * 1024);
  expect(paint, "milliseconds to the first paint").toBeLessThan(atMost(1000));
});
