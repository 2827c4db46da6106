import type { Locator, Page } from "@playwright/test";
import { control, expect, filled, service, show, signIn, tabTo, test } from "./journey";

const prod = { cluster: "prod" };

// whole waits until both clusters are read and all that was found is known.
async function whole() {
  await filled();
  await expect
    .poll(async () => {
      const health = (await (await service("/api/composer-ingestor/health")).json()) as { status: string };
      const found = (await (await service("/api/composer-ingestor/findings?limit=0")).json()) as { pending: number; totalItems: number };
      return [health.status, found.pending, found.totalItems > 0];
    }, { timeout: 90_000 })
    .toEqual(["healthy", 0, true]);
}

// ofProd are the names of what the catalog has of the second cluster.
async function ofProd(): Promise<string[]> {
  const filter = encodeURIComponent("metadata.annotations.crossplane.io/xrd-name=warehouses.data.example.org");
  const other = encodeURIComponent("metadata.annotations.composer.io/xrd-name=warehouses.data.example.org");
  const answer = await service(`/api/catalog/entities/by-query?filter=${filter}&filter=${other}&fields=kind,metadata.name,metadata.uid`);
  const { items } = (await answer.json()) as { items: { kind: string; metadata: { name: string; uid: string } }[] };
  return items.map((e) => `${e.kind} ${e.metadata.name} ${e.metadata.uid}`).sort();
}

// open opens the page as somebody who may run things.
async function open(page: Page, search = "") {
  await page.goto(`/ingestion${search}`);
  await signIn(page);
}

function place(page: Page, name: string): Locator {
  return page.getByRole("listitem", { name, exact: true });
}

// The issuer's certificate is its own.
test.use({ ignoreHTTPSErrors: true });

test.beforeAll(whole);

// Whatever became of a journey, the cluster is there for the next.
test.afterEach(async () => {
  await control("/cluster/up", "", prod);
  await whole();
});

test("a cluster goes down, which is seen, and comes back", async ({ page }) => {
  await open(page);
  await expect(page.getByText("Both clusters can be read")).toBeVisible();
  await expect(place(page, "dev")).toContainText("connected");
  await expect(place(page, "prod")).toContainText("connected");
  await expect(place(page, "prod")).toContainText("2 definitions");
  await expect(page.getByRole("listbox", { name: "Runs, the newest last" }).getByRole("option").first()).toBeVisible();
  await show(page, "ingestion");
  const before = await ofProd();
  expect(before.length).toBeGreaterThanOrEqual(3);

  await control("/cluster/down", "", prod);
  await expect(page.getByText("prod cannot be read")).toBeVisible({ timeout: 30_000 });
  await expect(place(page, "prod")).toContainText("unreachable");
  await expect(place(page, "prod")).toContainText(/Stale: .*definitions.* are as they were/);
  await expect(place(page, "prod")).toContainText(/last read/);
  await expect(place(page, "dev")).toContainText("connected");
  await expect(page.getByText("dev is fine.")).toBeVisible();
  await show(page, "ingestion-down");
  expect(await ofProd(), "an outage removes nothing").toEqual(before);

  // What the catalog has of it is there, and says that it is stale.
  await page.getByRole("link", { name: "Show what the catalog has of it" }).click();
  await expect(page).toHaveURL(/\/catalog\?cluster=prod/);
  const row = page.getByRole("grid", { name: "Entities" }).getByRole("row").filter({ hasText: "Warehouse" }).first();
  await expect(row).toContainText("stale");
  await page.goBack();
  await expect(page.getByText("prod cannot be read")).toBeVisible();

  await control("/cluster/up", "", prod);
  await expect(page.getByText("prod is back.")).toBeVisible({ timeout: 60_000 });
  await expect(place(page, "prod")).toContainText("connected");
  await expect(place(page, "prod")).not.toContainText("Stale");
  await expect(page.getByText("Both clusters can be read")).toBeVisible();
  expect(await ofProd(), "nothing is lost").toEqual(before);
});

const ledger = (field: string) => `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: ledgers.data.example.org, labels: {example.dev/ingest: "true"}}
spec:
  group: data.example.org
  scope: Namespaced
  names: {kind: Ledger, plural: ledgers}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema: {openAPIV3Schema: {type: object, description: Accounts of a team., properties: {spec: {type: object, properties: {${field}: {type: string, description: What it is called.}}}}}}
`;

test("a definition is added, and the runs say what changed", async ({ page }) => {
  await open(page);
  await expect(page.getByRole("heading", { name: "What changed last" })).toBeVisible();
  await control("/cluster/apply", ledger("title"), prod);
  try {
    const run = page.getByTestId("run");
    await expect(run.getByRole("region", { name: "Added" }).getByRole("link", { name: "ledgers.data.example.org", exact: true })).toBeVisible({ timeout: 30_000 });
    await control("/cluster/apply", ledger("name"), prod);
    await expect(run.getByRole("region", { name: "Updated" }).getByRole("link", { name: "ledgers.data.example.org", exact: true })).toBeVisible({ timeout: 30_000 });
    await run.evaluate((e) => e.scrollIntoView({ block: "end" }));
    await show(page, "ingestion-run");

    // Asked for, it is scanned at once; nothing has changed since.
    await page.getByRole("button", { name: "Run prod now" }).click();
    await expect(page.getByText("Asked for: prod.")).toBeVisible();
    await page.getByText("Table", { exact: true }).click();
    const asked = page.getByRole("row").filter({ hasText: "prod" }).filter({ hasText: "asked for" }).first();
    await expect(asked).toContainText("fine", { timeout: 30_000 });

    await run.getByRole("link", { name: "ledgers.data.example.org", exact: true }).click();
    await expect(page).toHaveURL(/\/catalog\/default\/template\/ledgers\.data\.example\.org$/);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  } finally {
    await control("/cluster/request", "", { ...prod, method: "DELETE", path: "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/ledgers.data.example.org" });
  }
});

test("findings lead from the rule to the object", async ({ page }) => {
  await open(page, "?cluster=prod");
  const findings = page.getByRole("region", { name: "Findings" });
  const rule = findings.getByRole("button", { name: /XRD050/ });
  await rule.click();
  await expect(rule).toHaveAttribute("aria-expanded", "true");
  const found = findings.getByRole("listitem").filter({ hasText: "warehouses.data.example.org" });
  await expect(found).toBeVisible();
  await found.getByRole("link", { name: "Explain warehouses.data.example.org" }).click();
  await expect(page.getByRole("dialog", { name: "warehouses.data.example.org" })).toContainText("composerIngestor makes its entities.");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await found.getByRole("link", { name: "warehouses.data.example.org", exact: true }).click();
  await expect(page).toHaveURL(/\/catalog\/default\/resource\/warehouses\.data\.example\.org/);
  // What was chosen is in the address.
  await page.goBack();
  await expect(found).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => window.scrollTo(0, 0));
  await show(page, "ingestion-narrow");
});

test("the same by keyboard: an outage, a run, and what is to be mended", async ({ page }) => {
  await open(page);
  await page.goto("/ingestion");
  await expect(page.getByText("Both clusters can be read")).toBeVisible();
  await control("/cluster/down", "", prod);
  await expect(page.getByText("prod cannot be read")).toBeVisible({ timeout: 30_000 });
  await tabTo(page, page.getByRole("link", { name: "Show what the catalog has of it" }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/catalog\?cluster=prod/);
  await expect(page.getByRole("grid", { name: "Entities" }).getByText("stale", { exact: true }).first()).toBeVisible();
  await tabTo(page, page.getByRole("link", { name: "Ingestion" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("prod cannot be read")).toBeVisible();
  await control("/cluster/up", "", prod);
  // Whoever knows that it is back need not wait until that is noticed.
  await tabTo(page, page.getByRole("button", { name: "Run prod now" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Asked for: prod.")).toBeVisible();
  await expect(page.getByText("Both clusters can be read")).toBeVisible({ timeout: 60_000 });

  // The runs are gone through with the arrows.
  const runs = page.getByRole("listbox", { name: "Runs, the newest last" });
  await tabTo(page, runs);
  await page.keyboard.press("Home");
  await expect(runs.getByRole("option").first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowRight");
  await expect(runs.getByRole("option").nth(1)).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("heading", { name: "What changed in this run" })).toBeVisible();

  const findings = page.getByRole("region", { name: "Findings" });
  const rule = findings.getByRole("button", { name: /XRD050/ });
  await tabTo(page, rule);
  await page.keyboard.press("Enter");
  await expect(rule).toHaveAttribute("aria-expanded", "true");
  await expect(rule).toBeFocused();
  await tabTo(page, findings.getByRole("link", { name: "warehouses.data.example.org", exact: true }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/catalog\/default\/resource\/warehouses\.data\.example\.org/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("who may only look sees how clusters fare, and why nothing is offered", async ({ page }) => {
  await page.goto("/ingestion");
  await expect(place(page, "prod")).toContainText("connected");
  await expect(page.getByRole("button", { name: "Run all now" })).toBeDisabled();
  await expect(page.getByText("Errors, runs and findings are shown to those who have the permission catalog.ingestion.read.")).toBeVisible();
  await expect(page.getByRole("note", { name: "Guests may not do this. Sign in first." }).first()).toBeVisible();
});
