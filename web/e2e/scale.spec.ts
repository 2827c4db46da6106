import { atMost, control, expect, catalogReady, long, service, show, tabTo, test } from "./journey";

const many = long ? 100_000 : 10_000;
const part = many / 10;
const parts = Array.from({ length: many / part }, (_, i) => `scale-${i}`);
const last = many - 1;
// thousands is the number of entities in thousands.
const thousands = many / 1000;
const count = (n: number) => `${n.toLocaleString("en-US")} entities`;

type Described = { kind: string; name: string; title?: string; type: string; owner?: string; annotations?: Record<string, string>; tags?: string[]; dependsOn?: string[]; readiness?: string };

function line({ kind, name, title, type, owner, annotations, tags, dependsOn, readiness }: Described): string {
  return JSON.stringify({
    apiVersion: "backstage.io/v1alpha1",
    kind,
    metadata: { name, title, annotations, tags },
    spec: { type, lifecycle: "production", owner: owner ?? "group:default/platform-team", dependsOn, readiness },
  });
}

async function put(provider: string, lines: string[]) {
  await service(`/api/catalog/providers/${provider}/entities`, { method: "PUT", body: lines.join("\n"), headers: { "Content-Type": "application/x-ndjson" } });
}

// quickest returns the shortest of up to four measurements: a busy machine is slow once, slow code is slow every time.
async function quickest(most: number, measure: () => Promise<number>): Promise<number> {
  let best = Infinity;
  for (let turn = 0; turn < 4 && best >= most; turn++) {
    best = Math.min(best, await measure());
  }
  return best;
}

test.beforeAll(catalogReady);

test.describe(`${many} entities`, () => {
  test.beforeAll(async () => {
    test.setTimeout(300_000);
    const began = Date.now();
    const colours = ["red", "green", "blue", "amber", "violet"];
    for (const [p, provider] of parts.entries()) {
      await put(
        provider,
        Array.from({ length: part }, (_, i) => {
          const n = p * part + i;
          const name = `many-${String(n).padStart(6, "0")}`;
          const title = n === 42 ? "<img src=x onerror=alert(1)>" : `${colours[n % 5]} service ${n}`;
          return line({ kind: "Component", name, title, type: ["service", "website", "library"][n % 3]!, owner: `group:default/team-${n % 20}`, tags: ["many", colours[n % 5]!] });
        }),
      );
    }
    console.log(`${many} entities were put in ${Date.now() - began} ms`);
  });

  test.afterAll(async () => {
    test.setTimeout(300_000);
    for (const provider of parts) {
      await service(`/api/catalog/providers/${provider}`, { method: "DELETE" });
    }
  });

  test("load fast, are searched while typing, sorted and scrolled", async ({ page, pageErrors }) => {
    const table = page.getByRole("grid", { name: "Entities" });
    const first = await quickest(atMost(2_000), async () => {
      const began = Date.now();
      await page.goto("/catalog");
      await expect(table.getByRole("link").first()).toBeVisible();
      return Date.now() - began;
    });
    expect(first, "milliseconds to the first rows").toBeLessThan(atMost(2_000));
    await expect(page.getByText(new RegExp(`^${thousands},\\d\\d\\d entities$`))).toBeVisible();
    const kinds = page.getByRole("group", { name: "Kind" });
    await expect(kinds).toContainText(`${thousands},`);
    await show(page, "catalog-large");

    // Rows, total and filter counts update while typing.
    const search = page.getByRole("searchbox", { name: "Search the catalog" });
    let turn = 0;
    const found = await quickest(atMost(2_000), async () => {
      const n = 0.77 * many + turn++;
      await search.fill(`violet ${n}`);
      const began = Date.now();
      await search.press("End");
      await expect(page.getByText(n % 5 === 4 ? "1 entity" : "0 entities")).toBeVisible();
      return Date.now() - began;
    });
    expect(found, "milliseconds from a letter to what it finds").toBeLessThan(atMost(2_000));
    await search.fill("violet");
    await expect(page.getByText(count(many / 5))).toBeVisible();
    await expect(kinds).toContainText((many / 5).toLocaleString("en-US"));
    await expect(kinds).not.toContainText("Template");
    await page.getByRole("group", { name: "Owner" }).getByLabel("team-4").first().check();
    await expect(page.getByText(count(many / 20))).toBeVisible();

    // Markup in a title is shown as text.
    await page.goto("/catalog?tag=many&q=many-000042");
    await expect(table.getByRole("link", { name: "<img src=x onerror=alert(1)>" })).toBeVisible();

    await page.goto("/catalog?tag=many");
    await expect(page.getByText(count(many))).toBeVisible();
    await expect(table.getByRole("row").nth(1)).toContainText("many-000000");
    await page.getByRole("button", { name: "Name", exact: true }).click();
    await expect(page).toHaveURL(/order=desc/);
    await expect(table.getByRole("row").nth(1)).toContainText(`many-${String(last).padStart(6, "0")}`);
    await page.getByRole("button", { name: "Name", exact: true }).click();
    await expect(table.getByRole("row").nth(1)).toContainText("many-000000");
    await table.getByRole("link").first().focus();
    await page.keyboard.press("End");
    await expect(table.getByRole("row").last()).toContainText(`many-${String(last).padStart(6, "0")}`);
    await expect(table.getByRole("link", { name: `violet service ${last}` })).toBeFocused();
    await page.keyboard.press("Home");
    await expect(table.getByRole("link", { name: "red service 0", exact: true })).toBeFocused();

    // Scroll through all rows: frames stay short, and rows out of sight are removed.
    const scroll = () =>
      page.evaluate(async () => {
        const box = document.querySelector<HTMLElement>('[role="grid"] > [role="rowgroup"]:last-child')!;
        const frames: number[] = [];
        let before = performance.now();
        for (let top = 0; top < box.scrollHeight - box.clientHeight; top += 40_000) {
          box.scrollTop = top;
          await new Promise((done) => requestAnimationFrame(done));
          const now = performance.now();
          frames.push(now - before);
          before = now;
        }
        frames.sort((a, b) => a - b);
        return { middle: frames[Math.floor(frames.length / 2)]!, rows: box.querySelectorAll('[role="row"]').length };
      });
    await expect(async () => {
      const scrolled = await scroll();
      expect(scrolled.rows).toBeLessThan(80);
      expect(scrolled.middle, "milliseconds of a frame").toBeLessThan(atMost(100));
    }).toPass();
    expect(pageErrors).toEqual([]);
  });
});

test.describe("a graph of two thousand nodes", () => {
  const compositions = 40;
  const each = 48;

  test.beforeAll(async () => {
    const made = (name: string, type: string, dependsOn?: string[], readiness?: string) =>
      line({ kind: "Resource", name, type, dependsOn, readiness, annotations: { "composer.io/xrd-name": "big.example.org" } });
    const lines = [made("big-xrd", "composer-xrd")];
    for (let c = 0; c < compositions; c++) {
      lines.push(made(`big-${c}-composition`, "composer-composition", ["resource:default/big-xrd"]));
      for (let i = 0; i < each; i++) {
        lines.push(made(`big-${c}-${i}`, "composer-xr", [`resource:default/big-${c}-composition`], i % 2 === 0 ? "ready" : "not ready"));
      }
    }
    await put("scale-graph", lines);
  });

  test.afterAll(async () => {
    await service("/api/catalog/providers/scale-graph", { method: "DELETE" });
  });

  test("is drawn, moved and navigated without blocking the page", async ({ page, pageErrors }) => {
    // Record long tasks of the page.
    await page.addInitScript(() => {
      const tasks: number[] = [];
      Object.assign(window, { tasks });
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" });
    });
    const longest = () => page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks.splice(0)));
    const graph = page.getByRole("group", { name: /^Graph of relations/ });
    const root = graph.getByRole("link", { name: /this entity$/ });
    const opened = await quickest(atMost(1_000), async () => {
      await page.goto("/catalog/default/resource/big-xrd?tab=graph");
      await expect(root).toBeVisible();
      await expect(page.getByText("1,961 entities; 960 of 1,920 resources ready")).toBeVisible();
      return longest();
    });
    expect(opened, "milliseconds that the page stood still while it opened").toBeLessThan(atMost(1_000));
    await show(page, "entity-graph-large");

    // Zoom out to the whole graph and back.
    await longest();
    const moved = await quickest(atMost(1_000), async () => {
      await page.getByRole("button", { name: "Fit to view" }).click();
      await expect(graph.getByRole("img", { name: /48 resources: 24 ready, 24 not ready/ }).first()).toBeVisible();
      await page.getByRole("button", { name: "Center on this entity" }).click();
      await expect(root).toBeVisible();
      return longest();
    });
    expect(moved, "milliseconds that the page stood still while all was shown").toBeLessThan(atMost(1_000));

    const box = (await graph.boundingBox())!;
    const drag = async () => {
      await page.mouse.move(box.x + box.width / 2, box.y + 20);
      await page.mouse.down();
      for (let i = 1; i <= 20; i++) {
        await page.mouse.move(box.x + box.width / 2 - i * 12, box.y + 20 + i * 4);
      }
      await page.mouse.up();
      return longest();
    };
    expect(await quickest(atMost(400), drag), "milliseconds that the page stood still while it was moved").toBeLessThan(atMost(400));

    await page.reload();
    await expect(root).toBeVisible();
    await tabTo(page, root);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
    await page.keyboard.press("ArrowRight");
    await expect.poll(focused).toMatch(/^big-\d+-composition, Composition/);
    await page.keyboard.press("ArrowRight");
    await expect.poll(focused).toMatch(/^big-\d+-\d+, Resource, (Ready|Not ready)/);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/resource\/big-\d+-\d+\?tab=graph/);
    await expect(root).toBeVisible();
    expect(pageErrors).toEqual([]);
  });
});

test.describe("unusual entities", () => {
  const long = `a${"-very".repeat(12)}-l`;
  const odd = [
    { kind: "Resource", name: "huge", type: "notes" },
    { kind: "Component", name: "popular", type: "service", dependsOn: Array.from({ length: 500 }, (_, i) => `resource:default/need-${i}`) },
    { kind: "Component", name: long, title: `${long} ${"x".repeat(200)}`, type: "y".repeat(63), owner: `group:default/${long}`, dependsOn: [`component:default/${long}`] },
    { kind: "Component", name: "late", type: "service", annotations: { "portal.io/stale": "composites of databases", "portal.io/stale-since": new Date(Date.now() - 7_300_000).toISOString() } },
  ];

  test.beforeAll(async () => {
    const lines = odd.map((o) => line(o));
    const huge = JSON.parse(lines[0]!) as { spec: Record<string, unknown> };
    huge.spec["notes"] = Array.from({ length: 12_000 }, (_, i) => `line ${i}: <script>alert(${i})</script> ${"z".repeat(50)}`);
    lines[0] = JSON.stringify(huge);
    await put("scale-odd", lines);
  });

  test.afterAll(async () => {
    await service("/api/catalog/providers/scale-odd", { method: "DELETE" });
  });

  test("a megabyte of YAML", async ({ page, pageErrors }) => {
    const shown = await quickest(atMost(5_000), async () => {
      const began = Date.now();
      await page.goto("/catalog/default/resource/huge?tab=yaml");
      await expect(page.getByRole("region", { name: "YAML of huge" })).toContainText("line 11999");
      return Date.now() - began;
    });
    expect(shown, "milliseconds until it is shown").toBeLessThan(atMost(5_000));
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
    expect(download.suggestedFilename()).toBe("resource-huge.yaml");
    expect(pageErrors).toEqual([]);
  });

  test("500 relations, long names and stale entities", async ({ page, pageErrors }) => {
    await page.goto("/catalog/default/component/popular");
    const relations = page.getByRole("region", { name: "Relations" });
    await expect(relations.getByRole("heading", { name: "Depends on (500)" })).toBeVisible();
    await expect(relations.getByText("(not in the catalog)").first()).toBeVisible();
    await relations.getByRole("button", { name: "Show 100 more" }).click();
    await expect(relations.getByRole("listitem")).toHaveCount(8 + 100);

    await page.goto(`/catalog/default/component/${long}`);
    await expect(page.getByRole("heading", { level: 1 })).toContainText(long);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), "the page scrolls sideways").toBe(false);
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.goto("/catalog/default/component/late");
    await expect(page.getByText("This data may be out of date")).toBeVisible();
    await expect(page.getByText("2 hours ago")).toBeVisible();
    await show(page, "entity-stale");
    expect(pageErrors).toEqual([]);
  });

  test("an open entity is removed and created again", async ({ page, pageErrors }) => {
    const claim = `apiVersion: platform.example.org/v1alpha1
kind: Database
metadata: { name: fleeting, namespace: shop }
spec: { parameters: { engine: postgresql, storageGB: 20 }, compositionRef: { name: database-postgres } }
`;
    const remove = () => control("/cluster/request", "", { method: "DELETE", path: "/apis/platform.example.org/v1alpha1/namespaces/shop/databases/fleeting" });
    await control("/cluster/apply", claim);
    let name = "";
    await expect
      .poll(async () => {
        const answer = await service("/api/catalog/entities?filter=kind=resource,metadata.title=fleeting&fields=metadata.name");
        return (name = ((await answer.json()) as { metadata: { name: string } }[])[0]?.metadata.name ?? "");
      })
      .not.toBe("");
    await page.goto(`/catalog/default/resource/${name}?tab=conditions`);
    await expect(page.getByRole("heading", { level: 1, name: "fleeting" })).toBeVisible();
    await remove();
    await expect(page.getByText("Database fleeting has been removed")).toBeVisible();
    await show(page, "entity-removed");
    await expect(page.getByRole("link", { name: "View others of this type" })).toHaveAttribute("href", "/catalog?kind=Resource&type=crossplane-xr");
    await control("/cluster/apply", claim);
    await expect(page.getByRole("tab", { name: "Objects" })).toBeVisible();
    await remove();
    await expect(page.getByText("Database fleeting has been removed")).toBeVisible();
    // The browser logs every 404.
    pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("404")));
  });
});
