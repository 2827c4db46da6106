import type { Locator, Page } from "@playwright/test";
import { control, expect, catalogReady, service, show, signIn, tabTo, test } from "./journey";

const prod = { cluster: "prod" };

// ingestionReady waits until both clusters are read and all definitions are checked.
async function ingestionReady() {
  await catalogReady();
  await expect
    .poll(async () => {
      const health = (await (await service("/api/composer-ingestor/health")).json()) as { status: string };
      const found = (await (await service("/api/composer-ingestor/findings?limit=0")).json()) as { pending: number; totalItems: number };
      return [health.status, found.pending, found.totalItems > 0];
    }, { timeout: 90_000 })
    .toEqual(["healthy", 0, true]);
}

// prodEntities returns the names of the entities that come from the second cluster.
async function prodEntities(): Promise<string[]> {
  const filter = encodeURIComponent("metadata.annotations.crossplane.io/xrd-name=warehouses.data.example.org");
  const other = encodeURIComponent("metadata.annotations.composer.io/xrd-name=warehouses.data.example.org");
  const answer = await service(`/api/catalog/entities/by-query?filter=${filter}&filter=${other}&fields=kind,metadata.name,metadata.uid`);
  const { items } = (await answer.json()) as { items: { kind: string; metadata: { name: string; uid: string } }[] };
  return items.map((e) => `${e.kind} ${e.metadata.name} ${e.metadata.uid}`).sort();
}

// open opens the page as a user who may run scans.
async function open(page: Page, search = "") {
  await page.goto(`/ingestion${search}`);
  await signIn(page);
}

function target(page: Page, name: string): Locator {
  return page.getByRole("rowgroup", { name, exact: true });
}

// The issuer uses a self-signed certificate.
test.use({ ignoreHTTPSErrors: true });

test.beforeAll(ingestionReady);

// Restart the cluster for the next test, whatever the result.
test.afterEach(async () => {
  await control("/cluster/up", "", prod);
  await ingestionReady();
});

test("a cluster goes down and recovers", async ({ page }) => {
  await open(page);
  await expect(page.getByText("Both clusters are connected")).toBeVisible();
  await expect(target(page, "dev")).toContainText("Connected");
  await expect(target(page, "prod")).toContainText("Connected");
  await expect(target(page, "prod").getByRole("link", { name: "2 definitions" })).toBeVisible();
  await show(page, "ingestion");
  const before = await prodEntities();
  expect(before.length).toBeGreaterThanOrEqual(3);

  await control("/cluster/down", "", prod);
  await expect(page.getByText("Cannot read prod")).toBeVisible({ timeout: 30_000 });
  await expect(target(page, "prod")).toContainText("Unreachable");
  await expect(target(page, "prod")).toContainText(/Stale: .*definitions.* last synced/);
  await expect(target(page, "prod")).toContainText(/last synced/);
  await expect(target(page, "dev")).toContainText("Connected");
  await expect(page.getByText("dev is connected.")).toBeVisible();
  await show(page, "ingestion-down");
  expect(await prodEntities(), "an outage removes nothing").toEqual(before);

  // The entities of the cluster are still in the catalog and marked as stale.
  await page.getByRole("link", { name: "View its entities in the catalog" }).click();
  await expect(page).toHaveURL(/\/catalog\?cluster=prod/);
  const row = page.getByRole("grid", { name: "Entities" }).getByRole("row").filter({ hasText: "Warehouse" }).first();
  await expect(row).toContainText("Stale");
  await page.goBack();
  await expect(page.getByText("Cannot read prod")).toBeVisible();

  await control("/cluster/up", "", prod);
  await expect(page.getByText("prod is connected again.")).toBeVisible({ timeout: 60_000 });
  await expect(target(page, "prod")).toContainText("Connected");
  await expect(target(page, "prod")).not.toContainText("Stale");
  await expect(page.getByText("Both clusters are connected")).toBeVisible();
  expect(await prodEntities(), "nothing is lost").toEqual(before);
});

const ledger = (field: string, labels = '{example.dev/ingest: "true"}') => `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: ledgers.data.example.org, labels: ${labels}}
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

test("a new definition appears in the changes of a run", async ({ page }) => {
  await open(page, "?tab=runs");
  await expect(page.getByRole("listbox", { name: "Runs, newest last" }).getByRole("option").first()).toBeVisible();
  await expect(page.getByRole("heading", { name: "Latest changes" })).toBeVisible();
  await control("/cluster/apply", ledger("title"), prod);
  try {
    const run = page.getByTestId("run");
    await expect(run.getByRole("region", { name: "Added" }).getByRole("link", { name: "ledgers.data.example.org", exact: true })).toBeVisible({ timeout: 30_000 });
    await control("/cluster/apply", ledger("name"), prod);
    await expect(run.getByRole("region", { name: "Updated" }).getByRole("link", { name: "Ledger", exact: true })).toBeVisible({ timeout: 30_000 });
    await run.evaluate((e) => e.scrollIntoView({ block: "end" }));
    await show(page, "ingestion-run");

    // A manual run scans at once and finds no changes.
    await page.getByRole("tab", { name: "Status" }).click();
    await page.getByRole("button", { name: "Run prod now" }).click();
    await expect(page.getByText("Run requested for prod.")).toBeVisible();
    await page.getByRole("tab", { name: "Runs" }).click();
    await page.getByText("Table", { exact: true }).click();
    const asked = page.getByRole("row").filter({ hasText: "prod" }).filter({ hasText: "manual" }).first();
    await expect(asked).toContainText("Succeeded", { timeout: 30_000 });

    await run.getByRole("link", { name: "Ledger", exact: true }).click();
    await expect(page).toHaveURL(/\/catalog\/default\/template\/ledgers\.data\.example\.org$/);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  } finally {
    await removeLedger();
  }
});

function removeLedger() {
  return control("/cluster/request", "", { ...prod, method: "DELETE", path: "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/ledgers.data.example.org" });
}

test("a definition without the label is found, selected by its command, and linked", async ({ page }) => {
  await control("/cluster/apply", ledger("title", "{}"), prod);
  try {
    await open(page, "?tab=definitions&q=ledgers");
    const row = page.getByRole("listitem", { name: "ledgers.data.example.org" });
    await expect(row).toContainText("Not selected", { timeout: 30_000 });
    await expect(row).toContainText("Label openportal.dev/ingest=true is missing");
    await row.getByRole("button", { name: "ledgers.data.example.org" }).click();
    await expect(row).toContainText("kubectl label compositeresourcedefinitions.apiextensions.crossplane.io ledgers.data.example.org openportal.dev/ingest=true");
    await show(page, "ingestion-definitions");
    await page.setViewportSize({ width: 390, height: 844 });
    await show(page, "ingestion-definitions-narrow");
    await page.setViewportSize({ width: 1280, height: 720 });

    // The label of the command selects it.
    await control("/cluster/apply", ledger("title", '{openportal.dev/ingest: "true"}'), prod);
    await expect(row.getByText("Selected", { exact: true })).toBeVisible({ timeout: 60_000 });
    await expect(row).toContainText(/prod: (served|not served)/);
    await row.getByRole("link", { name: "Explain ledgers.data.example.org" }).click();
    await expect(page.getByRole("dialog", { name: "ledgers.data.example.org" })).toContainText("Entities are generated by the Crossplane ingestor.");
    await show(page, "ingestion-explain");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await page.reload();
    await row.getByRole("button", { name: "Open in playground" }).click();
    await expect(page).toHaveURL(/\/playground#xrd=/);
    await expect(page.getByRole("textbox", { name: "Definition, as YAML or JSON" })).toContainText("ledgers.data.example.org");
  } finally {
    await removeLedger();
  }
});

test("findings link from the rule to the object", async ({ page }) => {
  await open(page, "?tab=findings&cluster=prod");
  const findings = page.getByRole("region", { name: "Findings" });
  const rule = findings.getByRole("button", { name: /XRD050/ });
  await rule.click();
  await expect(rule).toHaveAttribute("aria-expanded", "true");
  const found = findings.getByRole("listitem").filter({ hasText: "warehouses.data.example.org" });
  await expect(found).toBeVisible();
  await found.getByRole("link", { name: "Explain warehouses.data.example.org" }).click();
  await expect(page.getByRole("dialog", { name: "warehouses.data.example.org" })).toContainText("Entities are generated by the Crossplane ingestor.");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await found.getByRole("link", { name: "warehouses.data.example.org", exact: true }).click();
  await expect(page).toHaveURL(/\/catalog\/default\/resource\/warehouses\.data\.example\.org/);
  // The URL holds the filters.
  await page.goBack();
  await expect(found).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => window.scrollTo(0, 0));
  await show(page, "ingestion-narrow");
});

test("outage, run and findings by keyboard", async ({ page }) => {
  await open(page);
  await page.goto("/ingestion");
  await expect(page.getByText("Both clusters are connected")).toBeVisible();
  await control("/cluster/down", "", prod);
  await expect(page.getByText("Cannot read prod")).toBeVisible({ timeout: 30_000 });
  await tabTo(page, page.getByRole("link", { name: "View its entities in the catalog" }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/catalog\?cluster=prod/);
  await expect(page.getByRole("grid", { name: "Entities" }).getByText("Stale", { exact: true }).filter({ visible: true }).first()).toBeVisible();
  await tabTo(page, page.getByRole("link", { name: "Ingestion" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Cannot read prod")).toBeVisible();
  await control("/cluster/up", "", prod);
  // A manual run notices the recovery earlier than the schedule.
  await tabTo(page, page.getByRole("button", { name: "Run prod now" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Run requested for prod.")).toBeVisible();
  await expect(page.getByText("Both clusters are connected")).toBeVisible({ timeout: 60_000 });

  // The arrow keys move between tabs, and between runs.
  await tabTo(page, page.getByRole("tab", { name: "Status" }));
  for (const name of ["Definitions", "Findings", "Runs"]) {
    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("tab", { name })).toBeFocused();
    await expect(page.getByRole("tab", { name })).toHaveAttribute("aria-selected", "true");
  }
  const runs = page.getByRole("listbox", { name: "Runs, newest last" });
  await tabTo(page, runs);
  await page.keyboard.press("Home");
  await expect(runs.getByRole("option").first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowRight");
  await expect(runs.getByRole("option").nth(1)).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("heading", { name: "Changes in this run" })).toBeVisible();

  await tabTo(page, page.getByRole("tab", { name: "Runs" }));
  await page.keyboard.press("ArrowLeft");
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

test("read-only users see cluster states and why actions are disabled", async ({ page }) => {
  await page.goto("/ingestion");
  await expect(target(page, "prod")).toContainText("Connected");
  await expect(page.getByRole("button", { name: "Run all now" })).toBeDisabled();
  await expect(page.getByText("Errors, definitions, runs and findings are hidden.")).toBeVisible();
  await expect(page.getByRole("note", { name: "Not available to guests. Sign in first." }).first()).toBeVisible();
});
