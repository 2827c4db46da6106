import type { Page } from "@playwright/test";
import { formOf, test } from "./ann";
import { control, expect, catalogReady, service, show, toReview } from "./journey";

const template = "buckets.storage.example.org";
const buckets = "/apis/storage.example.org/v1/namespaces/default/buckets";

type Bucket = { metadata: { name: string }; spec: Record<string, unknown> };

// live returns a bucket as the API server has it.
async function live(name: string): Promise<Bucket | undefined> {
  const all = JSON.parse(await control("/cluster/request", "", { method: "GET", path: buckets })) as { items: Bucket[] };
  return all.items.find((b) => b.metadata.name === name);
}

// createBucket creates a bucket with a task.
async function createBucket(name: string) {
  const values = { name, namespace: "default", owner: "group:default/shop-team", region: "eu-west-1", versioning: false, lifecycleDays: 10, tags: { team: "shop" } };
  const answer = await service("/api/scaffolder/v2/tasks", { method: "POST", body: JSON.stringify({ templateRef: `template:default/${template}`, values }), headers: { "Content-Type": "application/json" } });
  const { id } = (await answer.json()) as { id: string };
  await expect.poll(async () => ((await (await service(`/api/scaffolder/v2/tasks/${id}`)).json()) as { status: string }).status, { timeout: 60_000 }).toBe("completed");
}

// review goes to the review page.
async function review(page: Page) {
  await toReview(page);
  await expect(page.getByRole("heading", { name: "Planned changes" })).toBeVisible();
}

const name = `b${Date.now().toString(36)}`;

test.beforeAll(async () => {
  await catalogReady();
  await formOf(`${template}-update`);
  await createBucket(name);
});

test.afterAll(async () => {
  if (await live(name)) {
    await control("/cluster/request", "", { method: "DELETE", path: `${buckets}/${name}` });
  }
});

test("a resource is updated: the form is prefilled and the review shows the changes", async ({ page }) => {
  await page.goto(`/create/default/${template}-update?name=${name}&namespace=default&cluster=dev`);
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveValue(name);
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).not.toBeEditable();
  await page.getByRole("button", { name: "Next" }).click();
  const days = page.getByLabel("Lifecycle (days)");
  await expect(days).toHaveValue("10");
  await expect(page.getByRole("combobox", { name: "Region" })).toBeDisabled();
  await days.fill("30");
  await review(page);
  await expect(page.getByText("was 10 days")).toBeVisible();
  const diff = page.getByRole("region", { name: `Diff of Bucket default/${name}` });
  await expect(diff).toContainText("-   lifecycleDays: 10");
  await expect(diff).toContainText("+   lifecycleDays: 30");
  await show(page, "update-review");
  const before = (await live(name))!.spec;
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect((await live(name))!.spec).toEqual({ ...before, lifecycleDays: 30 });
});

test("a concurrent update is detected, and both changes are applied", async ({ page }) => {
  await page.goto(`/create/default/${template}-update?name=${name}&namespace=default&cluster=dev`);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByLabel("Lifecycle (days)").fill("40");
  await review(page);
  await expect(page.getByRole("region", { name: `Diff of Bucket default/${name}` })).toBeVisible();
  await control("/cluster/request", JSON.stringify({ spec: { versioning: true } }), { method: "PATCH", path: `${buckets}/${name}` });
  await page.getByRole("button", { name: "Update" }).click();
  const note = page.getByRole("alert").filter({ hasText: "This resource changed while you were editing" });
  await expect(note).toContainText("Versioning is now Yes (was No).");
  await expect(note).toContainText("No task was started. Your input is kept.");
  expect((await live(name))!.spec["lifecycleDays"]).not.toBe(40);
  await show(page, "update-stale");
  await review(page);
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect((await live(name))!.spec).toMatchObject({ lifecycleDays: 40, versioning: true });
});

test("a resource is deleted after confirmation", async ({ page }) => {
  await page.goto(`/create/default/${template}-delete?name=${name}&namespace=default&cluster=dev`);
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveValue(name);
  await expect(page.getByRole("note").filter({ hasText: `Deletes Bucket ${name}` })).toContainText("in cluster dev");
  await page.getByRole("button", { name: "Review" }).last().click();
  // The delete form requires a confirmation.
  const sure = page.getByLabel("I understand that all objects it composes are deleted too");
  await expect(sure).toBeFocused();
  await expect(page.getByRole("alert")).toContainText("One field is invalid");
  await sure.check();
  await review(page);
  await expect(page.getByRole("region", { name: `Diff of Bucket default/${name}` })).toContainText("-   lifecycleDays:");
  await show(page, "delete-review");
  expect(await live(name)).toBeDefined();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  await expect.poll(() => live(name)).toBeUndefined();
});
