import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pushTemplates, tasksOf, test, removeProvider } from "./ann";
import { control, expect, catalogReady, service, show } from "./journey";

const note = {
  parameters: [{ title: "The note", required: ["name"], properties: { name: { type: "string", title: "Name", pattern: "^[a-z0-9-]+$" }, text: { type: "string", title: "Text" }, namespace: { type: "string", title: "Namespace", default: "default" } } }],
  steps: [
    { id: "say", name: "Say what comes", action: "debug:log", input: { message: "writing ${{ parameters.name }}\nfor ${{ user.ref }}" } },
    {
      id: "apply",
      name: "Write the note",
      action: "cluster:apply",
      input: { manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "${{ parameters.name }}", namespace: "${{ parameters.namespace }}" }, data: { text: "${{ parameters.text }}" } } },
    },
  ],
  output: { links: [{ title: "The handbook", url: "https://handbook.example.org/notes" }, { title: "The team", entityRef: "group:default/platform-team" }], text: [{ title: "Written", content: "${{ parameters.name }}" }] },
};

const live = {
  parameters: [{ title: "The bucket", required: ["name"], properties: { name: { type: "string", title: "Name" }, days: { type: "integer", title: "Days", default: 90 } } }],
  steps: [
    {
      id: "propose",
      name: "Propose the change",
      action: "publish:change-request",
      input: {
        host: "git.example.org",
        repository: "acme/live",
        path: "clusters/live",
        branch: "main",
        merge: true,
        manifest: { apiVersion: "storage.example.org/v1", kind: "Bucket", metadata: { name: "${{ parameters.name }}", namespace: "shop" }, spec: { lifecycleDays: "${{ parameters.days }}", versioning: true } },
      },
    },
  ],
};

// slow runs long enough to look at the task.
const slow = { parameters: [], steps: [{ id: "say", name: "Say hello", action: "debug:log", input: { message: "hello" } }, { id: "wait", name: "Wait", action: "debug:wait", input: { minutes: 9 } }, { id: "bye", name: "Say goodbye", action: "debug:log", input: { message: "goodbye" } }] };
const said = { parameters: [{ title: "It", properties: { name: { type: "string", title: "Name" } } }], steps: [{ id: "say", name: "Say it", action: "debug:log", input: { message: "${{ parameters.name }}" } }] };
const flood = { parameters: [], steps: [{ id: "flood", name: "Say a lot", action: "test:flood", input: { messages: 5000 } }] };

test.beforeAll(async () => {
  await catalogReady();
  await pushTemplates("create", { "journey-note": note, "journey-live": live, "journey-slow": slow, "journey-said": said, "journey-flood": flood });
});
test.afterAll(() => removeProvider("create"));
test.afterEach(() => control("/portal/up"));

const gone = (pageErrors: string[]) => pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("ERR_CONNECTION_REFUSED") && !m.includes("ERR_INCOMPLETE_CHUNKED") && !m.includes("ERR_CONNECTION_RESET")));
const unique = () => `n${Date.now().toString(36)}`;

test("an outage while filling in a form loses no input", async ({ page, pageErrors }) => {
  await page.goto("/create");
  await page.getByRole("searchbox", { name: "Search" }).fill("journey");
  await expect(page.getByRole("link", { name: "Journey note" })).toBeVisible();
  await show(page, "create-searched");
  await page.getByRole("link", { name: "Journey note" }).click();
  const name = unique();
  await page.getByLabel("Name").first().fill(name);
  await show(page, "create-form");
  await control("/portal/down");
  await page.getByLabel("Text").fill("typed during the outage");
  await page.getByRole("button", { name: "Review" }).last().click();
  await expect(page.getByText("typed during the outage")).toBeVisible();
  await expect(page.getByText("Cannot reach the portal. Check your network connection, then try again.").first()).toBeVisible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText("The task was not started")).toBeVisible();
  await expect(page.getByText("Your input is kept in this browser")).toBeVisible();
  await show(page, "create-gone");

  await control("/portal/up");
  await page.reload();
  await expect(page.getByText("typed during the outage", { exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Manifest preview" })).toContainText("typed during the outage");
  await show(page, "create-review");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page).toHaveURL(/\/tasks\//);
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect((await tasksOf("journey-note"))[0]?.spec.parameters).toEqual({ name, namespace: "default", text: "typed during the outage" });
  // The output has links, and each step shows its duration.
  await expect(page.getByRole("link", { name: "The handbook" })).toHaveAttribute("href", "https://handbook.example.org/notes");
  await expect(page.getByRole("link", { name: "The team" })).toHaveAttribute("href", "/catalog/default/group/platform-team");
  await expect(page.getByRole("button", { name: /^Write the note.*(ms|s).*Completed/ })).toBeVisible();
  await show(page, "task-done");
  gone(pageErrors);
});

test("a change request shows the diff of the file", async ({ page }) => {
  const file = "clusters/live/bucket/shop/pictures.yaml";
  const git = (...args: string[]) => execFileSync("git", ["-c", "safe.directory=*", "--git-dir", join(process.env.REPOSITORIES!, "acme", "live"), ...args], { encoding: "utf8" });
  const before = git("show", `main:${file}`);
  await page.goto("/create/default/journey-live");
  await page.getByLabel("Name").first().fill("pictures");
  await page.getByRole("button", { name: "Review" }).last().click();
  const diff = page.getByRole("region", { name: `Diff of ${file}` });
  await expect(diff).toContainText("- " + "  lifecycleDays: 30");
  await expect(diff).toContainText("+ " + "  lifecycleDays: 90");
  await expect(diff).toContainText("+ " + "  versioning: true");
  await expect(diff).not.toContainText("+   region");
  await show(page, "create-diff");
  expect(git("for-each-ref", "--format=%(refname:short)").trim()).toBe("main");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  const branch = git("for-each-ref", "--format=%(refname:short)", "refs/heads/portal").trim();
  const after = git("show", `${branch}:${file}`);
  expect(after).toContain("lifecycleDays: 90");
  expect(git("show", `main:${file}`)).toBe(before);
  git("update-ref", "-d", `refs/heads/${branch}`);
});

test("a running task is followed in two tabs, reloaded and canceled", async ({ page, context }) => {
  await page.goto("/create/default/journey-slow?step=1");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page).toHaveURL(/\/tasks\//);
  await expect(page.getByRole("button", { name: /^Wait.*Running/ })).toBeVisible();
  await show(page, "task-running");
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByRole("button", { name: /^Wait.*Running/ })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("log")).toContainText("hello");
  await page.getByRole("button", { name: "Cancel" }).click();
  for (const p of [page, other]) {
    await expect(p.getByRole("status").getByText("Canceled")).toBeVisible();
    await expect(p.getByRole("button", { name: /^Say goodbye.*Skipped/ })).toBeVisible();
  }
  // Show the log of one step, then of all steps.
  await page.getByRole("button", { name: /^Say hello/ }).click();
  await expect(page.getByRole("log")).toContainText("hello");
  await expect(page.getByRole("log")).not.toContainText("Waiting for");
  await page.getByRole("button", { name: /^Say hello/ }).click();
  await expect(page.getByRole("heading", { name: "Log", exact: true })).toBeVisible();
});

test("a failed task is retried after the cause is fixed", async ({ page }) => {
  const name = unique();
  await page.goto("/create/default/journey-note");
  await page.getByLabel("Name").first().fill(name);
  await page.getByLabel("Namespace").fill(name);
  await page.getByRole("button", { name: "Review" }).last().click();
  await expect(page.getByText("Dry run failed")).toBeVisible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("alert")).toContainText(`namespace`);
  await expect(page.getByRole("status").getByText("failed")).toBeVisible();
  await show(page, "task-failed");
  await page.setViewportSize({ width: 390, height: 800 });
  await show(page, "task-narrow");
  expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), "the page scrolls sideways").toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await control("/cluster/apply", `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`);
  await page.getByRole("button", { name: "Retry" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("my tasks: filter, paginate and run again", async ({ page }) => {
  for (let i = 0; i < 27; i++) {
    await service("/api/scaffolder/v2/tasks", { method: "POST", body: JSON.stringify({ templateRef: "template:default/journey-said", values: { name: `t${i}` } }), headers: { "Content-Type": "application/json" } });
  }
  await page.goto("/create/default/journey-said");
  await page.getByRole("textbox", { name: "Name" }).fill("mine");
  await page.getByRole("button", { name: "Review" }).last().click();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  const task = page.url();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Tasks" }).click();
  // Tasks started by services do not belong to her.
  await expect(page.getByRole("link", { name: "Journey said mine" })).toBeVisible();
  await expect(page.getByRole("link", { name: /Journey said t\d/ })).toHaveCount(0);
  await show(page, "tasks");
  await page.goto("/tasks?status=failed&template=template:default/journey-said");
  await expect(page.getByText("No results")).toBeVisible();
  await page.goto("/tasks?status=completed&template=template:default/journey-said");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("link", { name: "Journey said mine" }).click();
  await expect(page).toHaveURL(task);
  await page.getByRole("button", { name: "Run again" }).click();
  await expect(page.getByRole("textbox", { name: "Name" })).toHaveValue("mine");
  await expect(page.getByText("Filled in with the values of an earlier task.")).toBeVisible();
  await page.getByRole("button", { name: "Start over" }).click();
  await expect(page.getByRole("textbox", { name: "Name" })).toHaveValue("");
  // More tasks than fit on one page.
  await page.route("**/api/scaffolder/v2/tasks?**", async (route) => {
    // Send the requests with the token of a service that may read all tasks.
    await route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${process.env.SERVICE_TOKEN}` } });
  });
  await page.goto("/tasks?template=template:default/journey-said");
  await expect(page.getByText("28 tasks")).toBeVisible();
  await page.getByRole("button", { name: "Older" }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(page.getByRole("row")).toHaveCount(4);
  await page.unroute("**/api/scaffolder/v2/tasks?**");
});

test("a log of fifty megabytes", async ({ page }) => {
  await page.goto("/create/default/journey-flood?step=1");
  await page.getByRole("button", { name: "Create" }).click();
  const log = page.getByRole("log");
  await expect(log).toContainText("499999 xxx", { timeout: 110_000 });
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  await expect(page.getByText(/The first [\d,]+ lines are not shown/)).toBeVisible();
  // Only visible lines are rendered, and memory does not grow with the log.
  expect(await log.locator("code").count()).toBeLessThan(150);
  const memory = await page.evaluate(() => (performance as unknown as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize ?? 0);
  expect(memory, "bytes of memory").toBeLessThan(250 << 20);
  // The keyboard works without delay.
  await log.focus();
  await page.keyboard.press("Home");
  await expect.poll(() => log.evaluate((e) => e.scrollTop)).toBe(0);
  // The browser may still be scrolling up.
  await expect(async () => {
    await page.keyboard.press("End");
    await expect(log).toContainText("499999 xxx", { timeout: 2_000 });
  }).toPass();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download log" }).click()]);
  const path = await download.path();
  const { size } = await import("node:fs/promises").then((fs) => fs.stat(path));
  expect(size).toBeGreaterThan(45 << 20);
});
