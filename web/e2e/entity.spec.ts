import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { parse } from "yaml";
import { control, expect, catalogReady, service, show, signIn, tabTo, test } from "./journey";

// The issuer uses a self-signed certificate.
test.use({ ignoreHTTPSErrors: true, permissions: ["clipboard-read", "clipboard-write"] });

const databases = "/apis/platform.example.org/v1alpha1/namespaces/shop/databases";

type Condition = { type: string; status: string; reason: string; message?: string; lastTransitionTime: string };

const since = new Date(Date.now() - 3 * 3600_000).toISOString().replace(/\.\d+Z$/, "Z");
const synced: Condition = { type: "Synced", status: "True", reason: "ReconcileSuccess", lastTransitionTime: since };
const ready: Condition = { type: "Ready", status: "True", reason: "Available", lastTransitionTime: since };
const waiting: Condition = {
  type: "Ready",
  status: "False",
  reason: "Creating",
  message: "Composite resource claim is waiting for composite resource to become Ready",
  lastTransitionTime: since,
};

// setConditions sets the status conditions of a database in the cluster.
async function setConditions(name: string, ...conditions: Condition[]) {
  await control("/cluster/request", JSON.stringify({ status: { conditions } }), { method: "PATCH", path: `${databases}/${name}/status` });
}

function claim(name: string, composition = "database-postgres") {
  return `apiVersion: platform.example.org/v1alpha1
kind: Database
metadata: { name: ${name}, namespace: shop, annotations: { backstage.io/owner: shop-team } }
spec: { parameters: { engine: postgresql, storageGB: 20 }, compositionRef: { name: ${composition} } }
`;
}

// pathOf returns the path of the page of a resource. The entity name ends with a hash.
async function pathOf(title: string): Promise<string> {
  let name = "";
  await expect
    .poll(async () => {
      const answer = await service(`/api/catalog/entities?filter=kind=resource,spec.type=crossplane-xr,metadata.title=${title}&fields=metadata.name`);
      name = ((await answer.json()) as { metadata: { name: string } }[])[0]?.metadata.name ?? "";
      return name;
    }, { timeout: 60_000 })
    .not.toBe("");
  return `/catalog/default/resource/${name}`;
}

let orders = "";
const definition = "/catalog/default/resource/xdatabases.platform.example.org-xrd";

test.beforeAll(async () => {
  await catalogReady();
  await control("/cluster/apply", ["reports", "sessions"].map((name) => claim(name)).concat(claim("legacy", "database-mysql")).join("---\n"));
  await setConditions("orders", synced, ready);
  await setConditions("reports", synced, waiting);
  await setConditions("sessions", synced, ready);
  await setConditions("legacy", synced, { ...ready, status: "Unknown", reason: "Waiting" });
  orders = await pathOf("orders");
  await pathOf("reports");
  await pathOf("sessions");
  await pathOf("legacy");
});

test.afterAll(async () => {
  for (const name of ["reports", "sessions", "legacy"]) {
    await control("/cluster/request", "", { method: "DELETE", path: `${databases}/${name}` });
  }
});

async function fits(page: Page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(wide, "the page scrolls sideways").toBe(false);
}

// tab opens a tab of the page and waits until it is selected.
async function tab(page: Page, name: string) {
  await page.getByRole("tab", { name, exact: true }).click();
  await expect(page.getByRole("tab", { name, exact: true })).toHaveAttribute("aria-selected", "true");
}

test("a resource: overview, status, explanation and YAML", async ({ page, pageErrors }) => {
  await page.goto(orders);
  await expect(page.getByRole("heading", { level: 1, name: "orders" })).toBeVisible();
  await signIn(page);
  // The issuer's sign-in page loads fonts from another host.
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("fonts.googleapis.com")));
  const status = page.getByRole("region", { name: "Status" });
  await expect(status.getByText("Ready: True")).toBeVisible();
  await expect(status.getByText("3 hours ago").first()).toBeVisible();
  await show(page, "entity-overview");

  await tab(page, "Explain");
  const values = page.getByRole("region", { name: "Values", exact: true });
  await expect(values.getByRole("row", { name: /^owner/ })).toContainText("resource, overrides data-team from");
  await expect(values.getByRole("row", { name: /^title/ })).toContainText("annotation on the definition");
  await show(page, "entity-explain");

  // The object of the cluster, without managed fields.
  await tab(page, "YAML");
  await page.getByText("Live object", { exact: true }).click();
  await expect(page).toHaveURL(/tab=yaml&view=live/);
  const live = page.getByRole("region", { name: "YAML of the object orders" });
  await expect(live).toContainText("kind: Database");
  await expect(live).not.toContainText("managedFields");
  await show(page, "entity-live");
  await page.getByRole("switch", { name: "Show managed fields" }).click();
  await expect(live).toContainText("managedFields");

  await page.getByText("Catalog entity", { exact: true }).click();
  const text = page.getByRole("region", { name: /^YAML of orders/ });
  await expect(text).toContainText("kind: Resource");
  await show(page, "entity-yaml");
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  const saved = readFileSync(await download.path(), "utf8");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(saved);
  expect(download.suggestedFilename()).toMatch(/^resource-orders-[0-9a-f]{8}\.yaml$/);
  // The download equals the entity in the catalog.
  const entity = (await (await service(`/api/catalog/entities/by-name${orders.replace("/catalog/default/resource", "/resource/default")}`)).json()) as object;
  expect(parse(saved)).toEqual(entity);

  // The tab and what it shows are part of the URL.
  await page.reload();
  await expect(text).toContainText("kind: Resource");
  await page.goBack();
  await expect(values).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test("why a resource is not ready, and its objects", async ({ page, pageErrors }) => {
  await page.goto(await pathOf("reports"));
  const why = page.getByRole("group", { name: "Not ready" });
  await expect(why).toContainText(waiting.message!);
  await page.goto(`${await pathOf("reports")}?tab=objects`);
  const objects = page.getByRole("region", { name: "Objects", exact: true });
  await expect(objects).toContainText("Not ready");
  await expect(objects).toContainText(waiting.message!);
  await show(page, "entity-objects");
  await setConditions("reports", synced, { ...waiting, message: "<b>2 of 3</b> resources are ready" });
  await expect(objects).toContainText("<b>2 of 3</b> resources are ready", { timeout: 10_000 });
  await setConditions("reports", synced, waiting);
  expect(pageErrors).toEqual([]);
});

test("the objects of a resource as a tree and a graph, and their events", async ({ page, pageErrors }) => {
  // No Crossplane runs in the cluster: the composite does not exist.
  const resourceRef = { apiVersion: "platform.example.org/v1alpha1", kind: "XDatabase", name: "legacy-x7k" };
  const path = `${databases}/legacy`;
  await control("/cluster/request", JSON.stringify({ spec: { resourceRef } }), { method: "PATCH", path });
  await page.goto(`${await pathOf("legacy")}?tab=objects`);
  const objects = page.getByRole("region", { name: "Objects", exact: true });
  await expect(objects).toContainText("legacy-x7k", { timeout: 10_000 });
  await expect(page.getByText("By default, Kubernetes keeps events for about an hour.")).toBeVisible();
  const { uid } = (JSON.parse(await control("/cluster/request", "", { method: "GET", path })) as { metadata: { uid: string } }).metadata;
  const event = {
    metadata: { name: "legacy.1", namespace: "shop" },
    involvedObject: { apiVersion: "platform.example.org/v1alpha1", kind: "Database", namespace: "shop", name: "legacy", uid },
    type: "Warning",
    reason: "BindCompositeResource",
    message: "cannot bind <b>composite</b>",
    count: 4,
    lastTimestamp: since,
  };
  await control("/cluster/request", JSON.stringify(event), { method: "POST", path: "/api/v1/namespaces/shop/events" });
  const row = page.getByRole("region", { name: "Events about the objects" }).getByRole("row", { name: /BindCompositeResource/ });
  await expect(row).toContainText("cannot bind <b>composite</b>", { timeout: 30_000 });
  await expect(row).toContainText("Database legacy");
  await show(page, "entity-objects-tree");

  await page.getByText("Graph", { exact: true }).last().click();
  await expect(page).toHaveURL(/tab=objects&view=graph/);
  const graph = page.getByRole("group", { name: /^Graph of the objects/ });
  const root = graph.getByRole("button", { name: /^legacy, Database, Unknown, this resource$/ });
  const missing = graph.getByRole("button", { name: /^legacy-x7k, XDatabase, Missing$/ });
  await expect(missing).toBeVisible();
  await show(page, "entity-objects-graph");
  await tabTo(page, root);
  await page.keyboard.press("ArrowRight");
  await expect(missing).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status", { name: "Selected object" })).toContainText("The object does not exist.");
  await page.reload();
  await expect(missing).toBeVisible();
  await control("/cluster/request", JSON.stringify({ spec: { resourceRef: null } }), { method: "PATCH", path });
  await expect(missing).toHaveCount(0, { timeout: 30_000 });
  expect(pageErrors).toEqual([]);
});

test("the source of a definition and of a composition opens in the playground", async ({ page, pageErrors }) => {
  await page.goto(definition);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await tab(page, "YAML");
  const source = page.getByRole("region", { name: /^Source of/ });
  await expect(source).toContainText("kind: CompositeResourceDefinition");
  await expect(source).not.toContainText("managedFields");
  await show(page, "entity-source");
  await page.getByRole("button", { name: "Open in playground" }).click();
  await expect(page).toHaveURL(/\/playground#xrd=/);
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.getByRole("textbox", { name: "Name", exact: true })).toBeVisible();
  await expect(result.getByText(/^xdatabases\.platform\.example\.org: \d+ entities/)).toBeVisible();
  await page.goBack();
  await expect(source).toBeVisible();

  await page.goto("/catalog/default/resource/database-postgres-composition?tab=yaml");
  await expect(source).toContainText("kind: Composition");
  await page.getByRole("button", { name: "Open in playground" }).click();
  await expect(result.getByRole("textbox", { name: "Name", exact: true })).toBeVisible();
  await result.getByRole("tab", { name: "Entities" }).click();
  await expect(result.getByText("database-postgres-composition").first()).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test("conditions refresh while the page is open", async ({ page, pageErrors }) => {
  await page.goto(`${await pathOf("reports")}?tab=conditions`);
  const table = page.getByRole("region", { name: "Conditions" });
  await expect(table.getByRole("row", { name: /^Ready/ })).toContainText(waiting.message!);
  await show(page, "entity-conditions");
  // A changed message does not change the entity, but the page shows it.
  const etag = async () => (await service(`/api/catalog/entities/by-name${(await pathOf("reports")).replace("/catalog/default/resource", "/resource/default")}`)).headers.get("etag");
  const before = await etag();
  await setConditions("reports", synced, { ...waiting, message: "<b>2 of 3</b> resources are ready" });
  await expect(table).toContainText("<b>2 of 3</b> resources are ready", { timeout: 10_000 });
  expect(await etag()).toBe(before);
  await setConditions("reports", synced, { ...ready, lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, "Z") });
  await expect(table.getByRole("row", { name: /^Ready True/ })).toBeVisible({ timeout: 10_000 });
  await expect(table.getByRole("row", { name: /^Ready/ })).toContainText(/just now|seconds? ago/);
  await setConditions("reports", synced, waiting);
  expect(pageErrors).toEqual([]);
});

test("the graph from the definition to its resources", async ({ page, pageErrors }) => {
  await page.goto(definition);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await tab(page, "Graph");
  const graph = page.getByRole("group", { name: /^Graph of relations/ });
  const node = (name: RegExp) => graph.getByRole("link", { name });
  await expect(node(/^orders, Resource, Ready/)).toBeVisible();
  await expect(node(/^reports, Resource, Not ready/)).toBeVisible();
  await expect(node(/^legacy, Resource, Unknown/)).toBeVisible();
  await expect(page.getByText(/2 of 4 resources ready/)).toBeVisible();
  await show(page, "entity-graph");

  // Dependencies are on the left: definition, composition, resource.
  const box = async (name: RegExp) => (await node(name).boundingBox())!;
  const [first, second, third] = [await box(/Definition.*this entity$/), await box(/^database-postgres, Composition/), await box(/^orders,/)];
  expect(first.x).toBeLessThan(second.x);
  expect(second.x).toBeLessThan(third.x);

  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(async () => (await box(/Definition.*this entity$/)).width).toBeGreaterThan(first.width * 1.2);
  await page.getByRole("button", { name: "Fit to view" }).click();
  await expect.poll(async () => (await box(/Definition.*this entity$/)).width).toBeLessThan(first.width * 1.1);
  const at = await box(/Definition.*this entity$/);
  const hole = (await graph.boundingBox())!;
  await page.mouse.move(hole.x + 30, hole.y + 30);
  await page.mouse.down();
  await page.mouse.move(hole.x + 110, hole.y + 70, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => Math.round((await box(/Definition.*this entity$/)).x - at.x)).toBeGreaterThan(60);

  // A change of readiness appears without a reload.
  await setConditions("sessions", synced, waiting);
  await expect(node(/^sessions, Resource, Not ready/)).toBeVisible();
  await setConditions("sessions", synced, ready);

  // The list shows the same as text.
  await page.getByText("List", { exact: true }).click();
  await expect(page.getByRole("region", { name: "Entities in the graph" }).getByRole("row", { name: /^reports/ })).toContainText("Not ready");
  await page.reload();
  await expect(page.getByRole("region", { name: "Entities in the graph" })).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test("the tabs and the graph by keyboard alone", async ({ page, pageErrors }) => {
  await page.goto(definition);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const overview = page.getByRole("tab", { name: "Overview" });
  await tabTo(page, overview);
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Graph" })).toBeFocused();
  await expect(page).toHaveURL(/tab=graph/);
  const graph = page.getByRole("group", { name: /^Graph of relations/ });
  const root = graph.getByRole("link", { name: /Definition.*this entity$/ });
  await expect(root).toBeVisible();
  await tabTo(page, root);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  await page.keyboard.press("ArrowRight");
  await expect.poll(focused).not.toMatch(/this entity$/);
  // Go up and down the column to a composition, then on to its resources.
  const among = async (key: string, name: RegExp) => {
    for (let i = 0; i < 12 && !name.test(await focused()); i++) {
      const before = await focused();
      await page.keyboard.press(key);
      await expect.poll(focused, { timeout: 1_000 }).not.toBe(before).catch(() => undefined);
    }
    return name.test(await focused());
  };
  expect((await among("ArrowUp", /^database-postgres/)) || (await among("ArrowDown", /^database-postgres/))).toBe(true);
  await page.keyboard.press("ArrowRight");
  await expect.poll(focused).toMatch(/, Resource, /);
  await page.keyboard.press("Home");
  await expect(root).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect.poll(focused).not.toMatch(/this entity$/);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/catalog\/default\/(resource|api|template)\/(?!xdatabases\.platform\.example\.org-xrd)/);
  await expect(page).toHaveURL(/tab=graph/);
  expect(pageErrors).toEqual([]);
});

test("composition, API, Template and definition link to each other", async ({ page, pageErrors }) => {
  await page.goto("/catalog/default/resource/database-postgres-composition");
  const relations = page.getByRole("region", { name: "Relations" });
  await expect(relations.getByRole("heading", { name: "Dependency of" })).toBeVisible();
  await relations.getByRole("link", { name: "xdatabases.platform.example.org", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "xdatabases.platform.example.org" })).toBeVisible();
  await expect(page.getByRole("main").getByRole("link", { name: "Create", exact: true })).toHaveAttribute("href", "/create/default/xdatabases.platform.example.org");
  await expect(page.getByRole("region", { name: /^Resources/ }).getByRole("link", { name: "orders" })).toBeVisible();
  await show(page, "entity-definition");
  await page.getByRole("main").getByRole("link", { name: "API", exact: true }).click();
  await expect(page).toHaveURL(/xdatabases\.platform\.example\.org-api\?tab=api$/);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Database" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "xdatabases.platform.example.org" })).toBeVisible();

  await page.goto("/catalog/default/api/xdatabases.platform.example.org-api?tab=api");
  await expect(page.getByRole("heading", { name: /^Operations/ })).toBeVisible();
  await expect(page.getByText("storageGB").first()).toBeVisible();
  await expect(page.getByRole("button", { name: /try|execute|send/i })).toHaveCount(0);
  await show(page, "entity-api");
  await page.reload();
  await expect(page.getByRole("heading", { name: /^Operations/ })).toBeVisible();

  await page.goto("/catalog/default/template/queues.messaging.platform.io-v1");
  await expect(page.getByRole("link", { name: "Create", exact: true }).last()).toHaveAttribute("href", "/create/default/queues.messaging.platform.io-v1");
  await tab(page, "Versions");
  await expect(page.getByRole("status").filter({ hasText: "fields added" })).toBeVisible();
  await expect(page.getByRole("row", { name: /ordering/ }).first()).toContainText("Added");
  await expect(page.getByRole("row", { name: /fifo/ }).first()).toContainText("Removed");
  await expect(page.getByText("1 breaking change")).toBeVisible();
  await show(page, "entity-versions");
  await page.reload();
  await expect(page.getByRole("row", { name: /ordering/ }).first()).toContainText("Added");
  expect(pageErrors).toEqual([]);
});

test("the graph of a group has its members by kind", async ({ page, pageErrors }) => {
  await page.goto("/catalog/default/group/platform-team?tab=graph");
  const graph = page.getByRole("group", { name: /^Graph of relations/ });
  const templates = graph.getByRole("link", { name: /^\d+ templates/ });
  // The view starts at the group, where the text is readable.
  await expect(graph.getByText(/^\d+ definitions$/)).toBeVisible();
  await show(page, "entity-graph-group");
  await page.getByRole("button", { name: "Fit to view" }).click();
  await expect(templates).toHaveAttribute("href", /^\/catalog\?kind=Template&.*owner=group%3Adefault%2Fplatform-team$/);
  expect(pageErrors).toEqual([]);
});

test("an entity that does not exist", async ({ page, pageErrors }) => {
  await page.goto("/catalog/other/component/database-postgres-composition");
  await expect(page.getByRole("heading", { level: 1, name: "Cannot find component database-postgres-composition" })).toBeVisible();
  await page.getByRole("link", { name: "database-postgres", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "database-postgres" })).toBeVisible();
  // The browser logs every 404.
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("404")));
});

test("a narrow screen", async ({ page, pageErrors }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(orders);
  await expect(page.getByRole("region", { name: "Status" }).getByText("Ready: True")).toBeVisible();
  await show(page, "entity-overview-narrow");
  await fits(page);
  await page.goto(`${definition}?tab=graph`);
  await expect(page.getByRole("region", { name: "Entities in the graph" })).toBeVisible();
  await show(page, "entity-list-narrow");
  await fits(page);
  await page.getByRole("radiogroup", { name: "Relations view" }).getByText("Graph").click();
  await expect(page.getByRole("group", { name: /^Graph of relations/ }).getByRole("link", { name: /this entity$/ })).toBeVisible();
  await show(page, "entity-graph-narrow");
  await fits(page);
  await page.goto(`${orders}?tab=objects`);
  await expect(page.getByRole("region", { name: "Objects", exact: true })).toBeVisible();
  await fits(page);
  await page.goto(`${definition}?tab=yaml`);
  await expect(page.getByRole("region", { name: /^Source of/ })).toBeVisible();
  await fits(page);
  expect(pageErrors).toEqual([]);
});
