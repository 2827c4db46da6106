import { expect, filled, show, signIn, test } from "./journey";

test.beforeAll(filled);

test.use({ ignoreHTTPSErrors: true });

test("from the first look to a resource that is ready", async ({ page }) => {
  await page.goto("/");
  await expect(page).toHaveURL(/\/catalog$/);
  await signIn(page);
  await page.getByRole("link", { name: "Create" }).click();
  await expect(page.getByRole("link", { name: "Database", exact: true })).toBeVisible();
  await show(page, "create");
  await page.getByRole("link", { name: "Database", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Database", level: 1 })).toBeVisible();
  await page.getByLabel("Name", { exact: false }).first().fill("invoices");
  await page.getByRole("combobox", { name: "Owner" }).fill("shop");
  await page.waitForTimeout(1500);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x1.png" });
  console.log(await page.locator("body").ariaSnapshot());
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("button", { name: "Next" }).click();
  await page.waitForTimeout(1500);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x2.png" });
  console.log(await page.locator("main").ariaSnapshot());
  await page.getByRole("button", { name: "Review" }).last().click();
  await page.waitForTimeout(3000);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x3.png", fullPage: true });
  console.log(await page.locator("main").ariaSnapshot());
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForTimeout(500);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x4.png", fullPage: true });
  await page.waitForTimeout(6000);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x5.png", fullPage: true });
  console.log(await page.locator("main").ariaSnapshot());
  await page.getByRole("status").filter({ hasText: "In the catalog" }).getByRole("link").click();
  await page.waitForTimeout(3000);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x6.png", fullPage: true });
  console.log(await page.locator("main").ariaSnapshot());
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.waitForTimeout(3000);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x7.png", fullPage: true });
  console.log(await page.locator("main").ariaSnapshot());
  await page.getByRole("tab", { name: "Conditions" }).click();
  await page.waitForTimeout(3000);
  await page.screenshot({ path: process.env.SCREENSHOTS + "/x8.png", fullPage: true });
  console.log(await page.locator("main").ariaSnapshot());
});
