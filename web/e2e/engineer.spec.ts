import { readFileSync } from "node:fs";
import type { Download, Page } from "@playwright/test";
import { formOf } from "./ann";
import { control, expect, catalogReady, show, signIn, tabTo, test, toReview } from "./journey";

test.beforeAll(catalogReady);

// A definition with one misspelled type.
const wrong = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: caches.platform.example.org
  labels:
    openportal.dev/ingest: "true"
  annotations:
    backstage.io/template-title: Cache
spec:
  scope: Namespaced
  group: platform.example.org
  names:
    kind: Cache
    plural: caches
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          description: A cache in memory.
          properties:
            spec:
              type: object
              required: [memory]
              properties:
                memory:
                  type: integer
                  description: Megabytes of memory.
                  minimum: 64
                eviction:
                  type: strin
                  description: What goes first when it is full.
`;
const right = wrong.replace("strin\n", "string\n");

const editor = (page: Page) => page.getByRole("textbox", { name: "Definition, as YAML or JSON" });
const tab = (page: Page, name: string) => page.getByRole("tab", { name: new RegExp(`^${name}`) });
const result = (page: Page) => page.getByRole("region", { name: "Result" });

// line returns the line of the editor that the cursor is in.
function line(page: Page): Promise<string> {
  return page.evaluate(() => {
    let at = document.getSelection()?.anchorNode ?? null;
    while (at && (at.parentElement as Element | null)?.getAttribute("role") !== "textbox") {
      at = at.parentNode;
    }
    return at?.textContent ?? "";
  });
}

// endOf puts the cursor at the end of a line of the editor, which renders only the lines in sight.
async function endOf(page: Page, text: string) {
  const at = editor(page).locator(".cm-line", { hasText: text });
  await editor(page).locator(".cm-line").first().hover();
  await expect(async () => {
    if ((await at.count()) === 0) {
      await page.mouse.wheel(0, 200);
    }
    await expect(at).toHaveCount(1, { timeout: 500 });
  }).toPass();
  await at.click();
  await page.keyboard.press("End");
}

// command returns the equivalent command that the page shows.
function command(page: Page): Promise<string> {
  return page.getByRole("region", { name: /^Equivalent command/ }).innerText();
}

// run executes the command in a directory that holds the text and the portal's configuration.
async function run(command: string, text: string): Promise<string> {
  const url = new URL("/cli", process.env.CONTROL_URL);
  url.search = new URLSearchParams({ command }).toString();
  const answer = await fetch(url, { method: "POST", body: text });
  const said = await answer.text();
  expect(answer.ok, `${command}: ${said}`).toBe(true);
  return said;
}

async function saved(download: Download): Promise<string> {
  return readFileSync(await download.path(), "utf8");
}

test("write a definition, fix it and download the entities", async ({ page, context, pageErrors }) => {
  // The accessibility check runs on eight full pages.
  test.setTimeout(240_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/");
  await page.getByRole("link", { name: "Playground" }).click();
  await expect(page).toHaveURL(/\/playground/);
  await expect(result(page).getByRole("textbox", { name: "Name", exact: true })).toBeVisible();
  await show(page, "playground-form");

  // Paste the definition from the clipboard.
  await page.evaluate((text) => navigator.clipboard.writeText(text), wrong);
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("ControlOrMeta+v");
  await expect(result(page).getByText(/^caches\.platform\.example\.org: \d+ entities, 1 error/)).toBeVisible();
  await expect(result(page).getByText("A cache in memory.")).toBeVisible();

  // A finding links to its line.
  await tab(page, "Findings").click();
  const finding = page.getByRole("list", { name: "Findings" }).getByRole("button", { name: /Error XRD069/ });
  await expect(finding).toContainText("line 33");
  await show(page, "playground-findings");
  await finding.click();
  await expect(editor(page)).toBeFocused();
  expect(await line(page)).toContain("type: strin");

  // Fix the error; the finding disappears.
  await page.keyboard.press("End");
  await page.keyboard.type("g");
  await expect(finding).toHaveCount(0);
  await expect(result(page).getByText(/^caches\.platform\.example\.org: \d+ entities$/)).toBeVisible();

  // The form, the API document and the entities update while typing.
  await tab(page, "Form").click();
  await result(page).getByText("2. Cache").click();
  await expect(result(page).getByRole("textbox", { name: "Eviction" })).toBeVisible();
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+End");
  const more = "                replicas:\n                  type: integer\n                  description: How many stand by.\n";
  await page.keyboard.insertText(more);
  await expect(result(page).getByRole("textbox", { name: "Replicas" })).toBeVisible();
  await tab(page, "API").click();
  await expect(result(page).getByText("How many stand by.").first()).toBeVisible();
  await show(page, "playground-api");
  await tab(page, "Entities").click();
  await expect(page.getByRole("region", { name: "Entities as YAML" })).toContainText("How many stand by.");
  await show(page, "playground");

  // The download is identical, byte for byte, to the output of the command.
  const downloading = page.waitForEvent("download");
  await result(page).getByRole("button", { name: "Download" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("caches.platform.example.org.entities.yaml");
  const entities = await saved(download);
  expect(entities).toContain("kind: Template");
  expect(await run(await command(page), right + more)).toBe(entities);

  // The URL is a link to all of it.
  await expect(page).toHaveURL(/tab=entities#xrd=/);
  await page.getByRole("button", { name: "Copy link" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  for (const open of [() => page.reload(), () => page.goto("/catalog").then(() => page.goto(link))]) {
    await open();
    await expect(tab(page, "Entities")).toHaveAttribute("aria-selected", "true");
    await expect(page.getByRole("region", { name: "Entities as YAML" })).toContainText("How many stand by.");
    await expect(editor(page)).toContainText("caches.platform.example.org");
  }
  expect(pageErrors).toEqual([]);
});

test("the same by keyboard alone", async ({ page, pageErrors }) => {
  await page.goto("/catalog");
  await tabTo(page, page.getByRole("link", { name: "Playground" }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/playground/);
  await expect(editor(page)).toBeVisible();
  await tabTo(page, editor(page));
  // The page lists the keyboard shortcuts, and they work.
  await expect(editor(page)).toHaveAccessibleDescription(/Tab leaves the editor/);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(wrong);
  await expect(result(page).getByText(/^caches\.platform\.example\.org: \d+ entities, 1 error/)).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await expect(result(page).locator("summary", { hasText: "Options" })).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await expect(editor(page)).toBeFocused();

  await tabTo(page, tab(page, "Form"));
  for (const name of ["Entities", "API", "Findings"]) {
    await page.keyboard.press("ArrowRight");
    await expect(tab(page, name)).toBeFocused();
    await expect(tab(page, name)).toHaveAttribute("aria-selected", "true");
  }
  const finding = page.getByRole("list", { name: "Findings" }).getByRole("button", { name: /Error XRD069/ });
  await tabTo(page, finding);
  await page.keyboard.press("Enter");
  await expect(editor(page)).toBeFocused();
  expect(await line(page)).toContain("type: strin");
  await page.keyboard.press("End");
  await page.keyboard.type("g");
  await expect(finding).toHaveCount(0);

  await tabTo(page, tab(page, "Findings"));
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(tab(page, "Entities")).toHaveAttribute("aria-selected", "true");
  await tabTo(page, result(page).getByRole("button", { name: "Download" }));
  const downloading = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  const entities = await saved(await downloading);
  expect(await run(await command(page), right)).toBe(entities);
  expect(pageErrors).toEqual([]);
});

test("a file is dropped or opened", async ({ page, pageErrors }) => {
  await page.goto("/playground?tab=findings");
  await expect(editor(page)).toBeVisible();
  const drop = async (name: string, text: string) => {
    const dataTransfer = await page.evaluateHandle(
      ([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        return data;
      },
      [name, text] as const,
    );
    await page.getByRole("region", { name: "Editor" }).dispatchEvent("dragover", { dataTransfer });
    await editor(page).dispatchEvent("drop", { dataTransfer });
  };
  await drop("cache.yaml", wrong);
  await expect(page.getByRole("list", { name: "Findings" }).getByRole("button", { name: /Error XRD069/ })).toBeVisible();
  await drop("large.yaml", "#".repeat((1 << 20) + 1));
  await expect(page.getByText("large.yaml is larger than 1 MiB")).toBeVisible();
  await expect(editor(page)).toContainText("caches.platform.example.org");

  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open file" }).click();
  await (await choosing).setFiles({ name: "cache.yaml", mimeType: "application/yaml", buffer: Buffer.from(right) });
  await expect(result(page).getByText(/^caches\.platform\.example\.org: \d+ entities$/)).toBeVisible();
  await expect(page.getByText("larger than 1 MiB")).toHaveCount(0);
  expect(pageErrors).toEqual([]);
});

test.describe("signed in", () => {
  // The issuer uses a self-signed certificate.
  test.use({ ignoreHTTPSErrors: true });

  // queue is written in a deprecated version.
  const queue = "{apiVersion: messaging.platform.io/v1beta1, kind: Queue, metadata: {name: mails, namespace: default}, spec: {fifo: true}}";

  test.beforeAll(() => control("/cluster/apply", queue));

  test.afterAll(() => control("/cluster/request", "", { method: "DELETE", path: "/apis/messaging.platform.io/v1/namespaces/default/queues/mails" }));

  test("see what a change of a definition breaks, and which resources to move to a new version", async ({ page, pageErrors }) => {
    test.setTimeout(240_000);
    await page.goto("/catalog/default/resource/xdatabases.platform.example.org-xrd?tab=yaml");
    await signIn(page);
    // The issuer's sign-in page loads fonts from another host.
    pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("fonts.googleapis.com")));
    await page.getByRole("button", { name: "Open in playground" }).click();
    await tab(page, "Changes").click();
    const changes = result(page).getByRole("region", { name: "xdatabases.platform.example.org", exact: true });
    await expect(changes.getByText("Unchanged")).toBeVisible();
    await expect(result(page).getByRole("button", { name: "Check live resources" })).toHaveCount(0);

    // Remove an enum value.
    await endOf(page, "- mysql");
    await page.keyboard.press("Shift+Home");
    await page.keyboard.press("Delete");
    await expect(changes.getByText("1 breaking change")).toBeVisible();
    const change = changes.getByRole("button", { name: /^Breaking DIF\d+ v1alpha1 spec\.parameters\.engine/ });
    await expect(change).toContainText("mysql");
    await change.click();
    await expect(editor(page)).toBeFocused();
    expect(await line(page)).toContain("enum:");

    // No resource has that value.
    await result(page).getByRole("button", { name: "Check live resources" }).click();
    await expect(result(page).getByText(/^No live resource is affected \(\d+ checked in 1 cluster\)\.$/)).toBeVisible();
    await show(page, "playground-changes");

    // A database is larger than a new limit.
    await endOf(page, "maximum: 4096");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await expect(result(page).getByText("This is the result for an earlier version of the text.")).toBeVisible();
    await expect(changes.getByText("2 breaking changes")).toBeVisible();
    await result(page).getByRole("button", { name: "Check live resources" }).click();
    const effect = result(page).getByText(/^v1alpha1: spec\.parameters\.storageGB: .*: 1 of \d+ resources? in 1 cluster would be rejected$/);
    await effect.click();
    await expect(result(page).getByRole("row", { name: /^orders/ })).toContainText("Database · shop");
    await show(page, "playground-impact");

    // A queue is written in a version that is deprecated.
    await page.goto("/catalog/default/template/queues.messaging.platform.io-v1?tab=versions");
    const versions = page.getByRole("region", { name: "Resources by version" });
    await expect(versions.getByRole("row", { name: /^v1beta1/ })).toContainText("Use v1; v1beta1 will go with the next release.");
    await expect(versions.getByRole("row", { name: /^v1beta1/ })).toContainText("dev");
    // It is named when it is in the catalog.
    await expect(async () => {
      await versions.getByRole("button", { name: "Refresh" }).click();
      await expect(versions.getByRole("link", { name: "mails" })).toBeVisible({ timeout: 3_000 });
    }).toPass({ timeout: 60_000 });
    await show(page, "versions-upgrade");
    expect(pageErrors).toEqual([]);
  });

  // journals has two versions; new resources get the second one.
  const journals = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: journals.data.example.org, labels: {example.dev/ingest: "true"}}
spec:
  group: data.example.org
  scope: Namespaced
  names: {kind: Journal, plural: journals}
  versions:
    - {name: v1, served: true, referenceable: false, deprecated: true, schema: &fields {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {heading: {type: string}}}}}}}
    - {name: v2, served: true, referenceable: true, schema: *fields}
`;
  const diary = "/apis/data.example.org/v1/namespaces/default/journals/diary";

  test("move a resource to a new version with the update form", async ({ page }) => {
    test.setTimeout(240_000);
    await control("/cluster/apply", journals);
    try {
      // The portal applied it when the first version was the only one.
      const made = { apiVersion: "data.example.org/v1", kind: "Journal", metadata: { name: "diary", namespace: "default" }, spec: { heading: "Days" } };
      await expect(() => control("/cluster/request", JSON.stringify(made), { method: "PATCH", path: `${diary}?fieldManager=portal` })).toPass({ timeout: 60_000 });
      await formOf("journals.data.example.org-update");
      await page.goto("/catalog/default/template/journals.data.example.org?tab=versions");
      await signIn(page);
      const versions = page.getByRole("region", { name: "Resources by version" });
      const link = versions.getByRole("link", { name: "Update diary" });
      await expect(async () => {
        await versions.getByRole("button", { name: "Refresh" }).click();
        await expect(link).toBeVisible({ timeout: 3_000 });
      }).toPass({ timeout: 60_000 });
      await link.click();
      await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveValue("diary");
      await toReview(page);
      await expect(page.getByText("Days").first()).toBeVisible();
      await page.getByRole("button", { name: "Update" }).click();
      await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
      await page.goto("/catalog/default/template/journals.data.example.org?tab=versions");
      await expect(versions.getByText("All resources are written in v2.")).toBeVisible();
      expect(JSON.parse(await control("/cluster/request", "", { method: "GET", path: diary }))).toMatchObject({ spec: { heading: "Days" } });
    } finally {
      await control("/cluster/request", "", { method: "DELETE", path: diary });
      await control("/cluster/request", "", { method: "DELETE", path: "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/journals.data.example.org" });
    }
  });
});

test("on a narrow screen", async ({ page, pageErrors }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/playground?tab=findings");
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(wrong);
  const finding = page.getByRole("list", { name: "Findings" }).getByRole("button", { name: /Error XRD069/ });
  await expect(finding).toBeVisible();
  await show(page, "playground-narrow");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(wide, "the page scrolls sideways").toBe(false);
  // The editor is above the result; a finding scrolls up to its line.
  await finding.click();
  await expect(editor(page)).toBeFocused();
  await expect(editor(page).getByText("type: strin", { exact: false }).last()).toBeInViewport();
  await tab(page, "Form").click();
  await result(page).getByRole("textbox", { name: "Name", exact: true }).scrollIntoViewIfNeeded();
  await show(page, "playground-form-narrow");
  expect(pageErrors).toEqual([]);
});
