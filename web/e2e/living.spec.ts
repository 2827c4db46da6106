import type { Page } from "@playwright/test";
import { formOf, test } from "./ann";
import { control, countClicks, expect, atMost, service, show, tabTo, toReview } from "./journey";

// These journeys run in a cluster with the real Crossplane; see test/crossplane for the definitions.
const template = "shops.shops.example.org";
const shops = "/apis/shops.example.org/v1/namespaces/shops/shops";

type Part = { kind: string; metadata: { name: string; annotations?: Record<string, string> }; spec?: { type?: string } };

// entityOf waits for the entity of a composite and returns the path of its page.
async function entityOf(kind: string, name: string): Promise<string> {
  let found: Part | undefined;
  await expect
    .poll(
      async () => {
        const answer = await service("/api/catalog/entities/by-query?filter=kind=resource&fields=kind,metadata.name,metadata.annotations,spec.type&limit=500");
        const { items } = (await answer.json()) as { items: Part[] };
        found = items.find((e) => /-xr$/.test(e.spec?.type ?? "") && Object.entries(e.metadata.annotations ?? {}).some(([k, v]) => k.endsWith("/xr-name") && v === name) && Object.entries(e.metadata.annotations ?? {}).some(([k, v]) => k.endsWith("/xr-kind") && v === kind));
        return found?.metadata.name;
      },
      { timeout: 60_000, message: `the entity of ${kind} ${name}` },
    )
    .toBeTruthy();
  return `/catalog/default/resource/${found!.metadata.name}`;
}

// spec returns the spec of a Shop as the API server has it.
async function spec(name: string): Promise<Record<string, unknown>> {
  const shop = JSON.parse(await control("/cluster/request", "", { method: "GET", path: `${shops}/${name}` })) as { spec: Record<string, unknown> };
  return shop.spec;
}

async function remove(name: string) {
  await control("/cluster/request", "", { method: "DELETE", path: `${shops}/${name}` });
}

// create creates a Shop with a task.
async function create(name: string, pods: number, owner = "group:default/shop-team") {
  const values = { name, namespace: "shops", owner, title: "Things", pods };
  const answer = await service("/api/scaffolder/v2/tasks", { method: "POST", body: JSON.stringify({ templateRef: `template:default/${template}`, values }), headers: { "Content-Type": "application/json" } });
  const { id } = (await answer.json()) as { id: string };
  await expect.poll(async () => ((await (await service(`/api/scaffolder/v2/tasks/${id}`)).json()) as { status: string }).status, { timeout: 60_000 }).toBe("completed");
}

// refused is what the API server says about a negative number of pods, in the words of the page.
const refused = /cannot apply composed resource.*must be greater than or equal to 0.*Quota /;

function reason(page: Page) {
  return page.getByRole("status").filter({ hasText: refused });
}

test.beforeAll(async () => {
  await formOf(`${template}-update`);
});

// A retry creates it again.
test.afterEach(async () => {
  await remove("posters").catch(() => undefined);
});

test("a developer finds out why a shop is not ready, changes the field, and sees it become ready", async ({ page }) => {
  // Each state is checked for accessibility, which takes minutes on a busy machine.
  test.setTimeout(600_000);
  await page.goto(`/create/default/${template}`);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("posters");
  await page.getByRole("textbox", { name: "Namespace" }).fill("shops");
  const next = page.getByRole("button", { name: "Next" });
  if (await next.isVisible()) {
    await next.click();
  }
  await page.getByLabel("Title").fill("Posters");
  await page.getByLabel("Pods").fill("-1");
  await toReview(page);
  // The plan says what Crossplane will try.
  const plan = page.getByRole("region", { name: "Plan", exact: true });
  await expect(plan).toContainText("5 to create, 0 to change, 0 to delete", { timeout: 30_000 });
  await plan.getByText("ResourceQuota shops/posters-").click();
  await expect(plan.getByRole("region", { name: /Manifest of ResourceQuota/ })).toContainText('pods: "-1"');
  await show(page, "review-plan");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();

  // One click leads from the red resource to the cause.
  const at = await entityOf("Shop", "posters");
  const clicks = await countClicks(page);
  await page.goto("/catalog");
  const red = page.getByRole("row").filter({ has: page.getByRole("link", { name: "posters", exact: true }) });
  await expect(red.getByText("Not ready").filter({ visible: true })).toBeVisible({ timeout: 30_000 });
  await red.getByRole("link", { name: "posters", exact: true }).click();
  await expect(page.getByRole("group", { name: "Not ready" })).toBeVisible({ timeout: 30_000 });
  await expect(reason(page)).toBeVisible();
  expect(await clicks()).toBe(1);
  await expect(page).toHaveURL(at);
  await expect(page.getByRole("region", { name: "Specification" })).toContainText("Posters");
  await show(page, "resource-not-ready");

  await page.getByRole("link", { name: "Show all objects" }).click();
  const objects = page.getByRole("region", { name: "Objects", exact: true });
  await expect(objects).toContainText("ResourceQuota");
  await expect(objects).toContainText("Missing");
  await show(page, "resource-objects");

  // The refused field is pods of a ResourceQuota: two patches lead back to pods of the shop.
  await page.getByRole("link", { name: "Edit pods" }).click();
  await expect(page.getByLabel("Pods")).toBeFocused();
  await expect(page.getByLabel("Pods")).toHaveValue("-1");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("3");
  await toReview(page);
  await expect(plan).toContainText("1 to create, 1 to change, 0 to delete", { timeout: 30_000 });
  await plan.getByText("Quota shops/posters-").first().click();
  await show(page, "review-plan-update");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect((await spec("posters"))["pods"]).toBe(3);

  await page.goto(at);
  await expect(page.getByRole("group", { name: "Not ready" })).toBeHidden({ timeout: 30_000 });
  await page.getByRole("tab", { name: "History" }).click();
  const history = page.getByRole("region", { name: "History" });
  await expect(history).toContainText("Updated");
  await expect(history).toContainText("spec.pods");
  await expect(history).toContainText("Created");
  await show(page, "resource-history");
});

test("a change in the cluster is on the page within a second", async ({ page }) => {
  await create("maps", 2);
  await page.goto(`${await entityOf("Shop", "maps")}?tab=objects`);
  const objects = page.getByRole("region", { name: "Objects", exact: true });
  await expect(objects.getByText("Ready", { exact: true }).first()).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("Cluster dev, live")).toBeVisible();
  const began = Date.now();
  await control("/cluster/request", JSON.stringify({ metadata: { annotations: { "crossplane.io/paused": "true" } } }), { method: "PATCH", path: `${shops}/maps` });
  await expect(objects.getByText("Paused").first()).toBeVisible({ timeout: atMost(1000) });
  test.info().annotations.push({ type: "change to page", description: `${Date.now() - began} ms` });
  // The API server refuses the change, although Crossplane calls the shop ready.
  await control("/cluster/request", JSON.stringify({ metadata: { annotations: { "crossplane.io/paused": null } }, spec: { pods: -4 } }), { method: "PATCH", path: `${shops}/maps` });
  await expect(page.getByRole("group", { name: "Ready, but a change was not applied" })).toBeVisible({ timeout: 30_000 });
  await expect(reason(page)).toBeVisible();

  // The object is deleted while it is shown.
  await remove("maps");
  await expect(page.getByText("has been removed")).toBeVisible({ timeout: 60_000 });
});

test("the way from the reason to the field works with the keyboard", async ({ page }) => {
  await create("globes", -2);
  await page.goto(await entityOf("Shop", "globes"));
  const change = page.getByRole("link", { name: "Edit pods" });
  await expect(change).toBeVisible({ timeout: 30_000 });
  await tabTo(page, change);
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Pods")).toBeFocused();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("1");
  const planned = page.getByRole("heading", { name: "Planned changes" });
  while (!(await planned.isVisible())) {
    const step = page.url();
    await tabTo(page, page.getByRole("button", { name: /^(Next|Review)$/ }).last());
    await page.keyboard.press("Enter");
    await expect(page).not.toHaveURL(step);
  }
  const update = page.getByRole("button", { name: "Update", exact: true });
  await tabTo(page, update);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect((await spec("globes"))["pods"]).toBe(1);
  await remove("globes");
});

test("the page of a resource fits a phone", async ({ page }) => {
  await create("plans", -3);
  const at = await entityOf("Shop", "plans");
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(at);
  await expect(reason(page)).toBeVisible({ timeout: 30_000 });
  for (const tab of ["overview", "objects", "history"]) {
    await page.goto(`${at}?tab=${tab}`);
    await expect(page.getByRole("tab", { selected: true })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `width of ${tab}`).toBeLessThanOrEqual(390);
    await show(page, `resource-phone-${tab}`);
  }
  await remove("plans");
});

test("an operator finds what is not ready with the keyboard, and why", async ({ page }) => {
  await create("charts", -5, "group:default/platform-team");
  await entityOf("Shop", "charts");
  await page.goto("/catalog");
  const filter = page.getByRole("button", { name: "Not ready, owned by me" });
  await tabTo(page, filter);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/status=not(\+|%20)ready/);
  const shop = page.getByRole("grid", { name: "Entities" }).getByRole("link", { name: "charts", exact: true });
  await expect(shop).toBeVisible({ timeout: 30_000 });
  // One row can be reached by Tab, the others from there by the arrow keys.
  const rows = page.getByRole("grid", { name: "Entities" }).getByRole("rowgroup").last().getByRole("link");
  await tabTo(page, rows.first(), 200);
  for (let i = 0; i < 20 && !(await shop.evaluate((e) => e === document.activeElement)); i++) {
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
  await expect(reason(page)).toBeVisible({ timeout: 30_000 });
  await tabTo(page, page.getByRole("tab", { name: "Overview" }));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("region", { name: "Objects", exact: true })).toContainText("ResourceQuota");
  await remove("charts");
});

test("an operator sees an outage, not that everything is ready", async ({ page, pageErrors }) => {
  await create("atlases", 2);
  const at = await entityOf("Shop", "atlases");
  await page.goto(`${at}?tab=objects`);
  await expect(page.getByText("Cluster dev, live")).toBeVisible({ timeout: 30_000 });
  await page.getByRole("tab", { name: "Overview" }).click();
  await expect(page.getByRole("region", { name: "Specification" })).toContainText("Things");
  await control("/cluster/down");
  try {
    const unknown = page.getByRole("status").filter({ hasText: "Cluster dev" });
    await expect(page.getByText("This data may be out of date")).toBeVisible({ timeout: 60_000 });
    await expect(unknown).toContainText(/Last synced (just now|.* ago): cluster dev /);
    await expect(page.getByText("Unknown, last known: Ready")).toBeVisible();
    await expect(page.getByText("Ready", { exact: true })).toHaveCount(0);
    await show(page, "resource-cluster-down");
    await page.reload();
    await expect(page.getByText("This data may be out of date")).toBeVisible({ timeout: 60_000 });
  } finally {
    await control("/cluster/up");
  }
  await expect(page.getByText("This data may be out of date")).toBeHidden({ timeout: 60_000 });
  await remove("atlases");
  // The browser reports responses of a cluster that is away.
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((e) => !/status of 503/.test(e)));
});
