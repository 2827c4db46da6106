import { formOf, test } from "./ann";
import { catalogReady, expect, show } from "./journey";

const template = "certificates.security.example.org";

test.beforeAll(async () => {
  await catalogReady();
  await formOf(template);
});

test("a developer sees what a validation rule refuses while typing, and why in the review", async ({ page }) => {
  await page.goto(`/create/default/${template}`);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop");
  await page.getByRole("textbox", { name: "Namespace" }).fill("default");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("textbox", { name: "Common Name" }).fill("shop.example.org");
  const renew = page.getByLabel(/Renew Before/);
  await renew.fill("500");
  const message = page.getByText("Renewal must begin before the certificate ends.", { exact: true });
  await expect(message.first()).toBeVisible();
  await expect(renew).toHaveAttribute("aria-invalid", "true");
  await show(page, "rules-field");

  await page.getByRole("button", { name: "Skip to review" }).click();
  await expect(page.getByText("The cluster would reject this resource")).toBeVisible();
  await show(page, "rules-review");
  await page.getByRole("button", { name: "Show errors" }).click();

  await renew.fill("10");
  await expect(renew).not.toHaveAttribute("aria-invalid", "true");
});
