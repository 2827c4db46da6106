import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { atMost, expect, long, service, test } from "./journey";

// The corpus has definitions that people really ship.
const corpus = process.env.INGESTOR_CORPUS ?? "";
const provider = "/api/catalog/providers/corpus";

type Template = { kind: string; metadata: object; spec: { parameters: unknown } };
type Preview = { definitions: { entities: Template[] }[] };

// Form is the form that a definition makes, at an address of the portal.
type Form = { file: string; index: number; bytes: number; name: string; pages: number };

let forms: Form[] = [];

test.skip(corpus === "", "INGESTOR_CORPUS names no folder of real definitions");

// made asks the portal what it makes of a text. It makes few at a time, and says so.
async function made(text: string): Promise<Preview> {
  let answer: Response | undefined;
  await expect
    .poll(async () => {
      answer = await fetch(new URL("/api/composer-ingestor/preview?profile=clusterIngestor", process.env.BASE_URL), {
        method: "POST",
        body: text,
        headers: { Authorization: `Bearer ${process.env.SERVICE_TOKEN}`, "Content-Type": "application/yaml" },
      });
      return answer.status;
    }, { timeout: 60_000 })
    .toBe(200);
  return (await answer!.json()) as Preview;
}

// The Templates of all definitions are in the catalog, each with a name of its own: several people ship the same definition.
test.beforeAll(async () => {
  test.setTimeout(300_000);
  const root = join(corpus, "xrds");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".yaml")).sort();
  expect(files.length, "definitions in the corpus").toBeGreaterThan(500);
  const all: (Form & { template: Template })[] = [];
  for (const file of files) {
    const preview = await made(readFileSync(join(root, file), "utf8"));
    const template = preview.definitions.flatMap((d) => d.entities).find((e) => e.kind === "Template");
    if (template) {
      const name = `corpus-${String(all.length).padStart(3, "0")}`;
      const { parameters } = template.spec;
      const pages = Array.isArray(parameters) ? parameters.length : 1;
      all.push({ file, bytes: statSync(join(root, file)).size, index: all.length, name, pages, template: { ...template, metadata: { ...template.metadata, name, namespace: "default" } } });
    }
  }
  // These few lack a served version, a group or a kind.
  expect(files.length - all.length, "definitions without a form").toBeLessThanOrEqual(4);
  const largest = all.reduce((a, b) => (a.bytes >= b.bytes ? a : b));
  const some = all.filter((form) => long || form.index % 12 === 7 || form === largest);
  forms = some;
  await service(`${provider}/entities`, { method: "PUT", body: some.map((form) => JSON.stringify(form.template)).join("\n"), headers: { "Content-Type": "application/x-ndjson" } });
});

test.afterAll(async () => {
  if (corpus !== "") {
    await service(provider, { method: "DELETE" });
  }
});

type Seen = { fields: number; trouble?: string };

// look goes to a page of a form, as a link in the portal would, opens what is closed in it and counts its fields. With more,
// it also adds an entry to so many lists and maps.
function look(page: Page, form: Form, step: number, more = 0): Promise<Seen> {
  return page.evaluate(
    async ({ name, step, more }) => {
      history.pushState(null, "", `/create/default/${name}?step=${step}`);
      window.dispatchEvent(new PopStateEvent("popstate"));
      const main = document.querySelector("main")!;
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const buttons = (text: RegExp) => [...main.querySelectorAll<HTMLButtonElement>("button:enabled")].filter((b) => text.test(b.textContent ?? ""));
      const trouble = () => main.querySelector('[role="alert"]')?.textContent ?? undefined;
      const here = () => {
        const steps = [...main.querySelectorAll("nav li button")];
        return main.querySelector(`a[href="/catalog/default/template/${name}"]`) && steps[step - 1]?.getAttribute("aria-current") === "step" && main.querySelector("form") && buttons(/^(Next|Review)$/).length === 1;
      };
      for (const end = performance.now() + 60_000; !here(); await frame()) {
        if (trouble() !== undefined || performance.now() > end) {
          return { fields: 0, trouble: trouble() ?? "the form does not come" };
        }
      }
      const unfold = async () => {
        for (let turn = 0; turn < 30; turn++) {
          const closed = [...main.querySelectorAll<HTMLButtonElement>('form button[aria-expanded="false"]'), ...buttons(/^Show more fields/)];
          if (closed.length === 0) {
            return;
          }
          closed.forEach((b) => b.click());
          await frame();
        }
      };
      await unfold();
      for (const add of buttons(/^Add /).slice(0, more)) {
        add.click();
        await frame();
        await unfold();
      }
      return { fields: main.querySelectorAll("form input, form textarea").length, trouble: trouble() };
    },
    { name: form.name, step, more },
  );
}

test("all forms are shown, page by page", async ({ page, mistakes }) => {
  test.setTimeout(600_000);
  await page.goto("/create");
  const began = Date.now();
  const wrong: string[] = [];
  let pages = 0;
  let fields = 0;
  for (const [i, form] of forms.entries()) {
    for (let step = 1; step <= form.pages; step++) {
      // Entries of lists and maps are tried here and there: each may be a form of its own.
      const seen = await look(page, form, step, i % 20 === 0 ? 3 : 0);
      pages++;
      fields += seen.fields;
      if (seen.trouble !== undefined) {
        wrong.push(`${form.file}, page ${step}: ${seen.trouble}`);
      }
    }
    wrong.push(...mistakes.splice(0).map((m) => `${form.file}: ${m}`));
  }
  console.log(`${forms.length} forms with ${pages} pages and ${fields} fields in ${Math.round((Date.now() - began) / 1000)} s`);
  expect(wrong).toEqual([]);
});

test("some of them are filled in", async ({ page, mistakes }) => {
  test.setTimeout(300_000);
  const chosen = forms.filter(({ index }) => index % 60 === 7);
  for (const form of chosen) {
    await page.goto(`/create/default/${form.name}`);
    for (let step = 1; step <= form.pages; step++) {
      await test.step(`${form.file}, page ${step}`, () => fill(page, step));
    }
    await expect(page.getByRole("heading", { name: "What you filled in" }), form.file).toBeVisible();
    await expect(page.getByText("Something is not filled in yet")).toHaveCount(0);
  }
  expect(chosen.length).toBeGreaterThan(5);
  expect(mistakes).toEqual([]);
});

// fill goes on from a page of a form; where the form says that something is missing, that is filled in.
async function fill(page: Page, step: number) {
  const steps = page.getByRole("navigation", { name: "Pages of the form" }).getByRole("listitem").getByRole("button");
  const at = page.getByRole("main").locator('[aria-current="step"]');
  for (let turn = 0; turn < 12; turn++) {
    await expect(steps.nth(step - 1)).toHaveAttribute("aria-current", "step");
    // The list of pages has a button of that name too, further up.
    await page.getByRole("button", { name: /^(Next|Review)$/ }).last().click();
    const invalid = page.getByRole("main").locator('form [aria-invalid="true"]');
    await expect(steps.nth(step).and(at).or(invalid).first()).toBeVisible();
    if ((await invalid.count()) === 0) {
      return;
    }
    await expect(page.getByRole("alert").filter({ hasText: /needs? another look/ })).toBeVisible();
    // Whoever is told goes on where it is.
    await expect(invalid.first()).toBeFocused();
    await answer(page, invalid.first());
  }
}

// answer gives a field a value that may fit.
async function answer(page: Page, field: Locator) {
  if ((await field.getAttribute("aria-haspopup")) === "listbox" && (await field.getAttribute("readonly")) !== null) {
    await field.click();
    await page.getByRole("option").first().click();
    return;
  }
  const number = (await field.getAttribute("inputmode")) !== null;
  await field.fill(number ? "1" : "something-1");
}

test("the largest is quick", async ({ browser, baseURL }) => {
  const largest = forms.reduce((a, b) => (a.bytes >= b.bytes ? a : b));
  const tries: number[] = [];
  const context = await browser.newContext({ baseURL });
  const page = await context.newPage();
  const field = page.getByRole("main").locator("form").getByRole("textbox").first();
  // The first is with an empty cache. On a busy machine one may be late; a form that is slow is late each time.
  while (tries.length < 2 || (tries.length < 6 && Math.min(...tries) >= atMost(2000))) {
    await page.goto(`/create/default/${largest.name}?step=2`);
    await expect(field).toBeEditable();
    tries.push(await page.evaluate(() => performance.now()));
  }
  // From the key to the frame that shows it.
  await field.focus();
  const keys: number[] = [];
  while (keys.length < 10 || (keys.length < 40 && Math.min(...keys) >= atMost(100))) {
    await page.evaluate(() => {
      document.addEventListener("keydown", () => {
        const from = performance.now();
        requestAnimationFrame(() => setTimeout(() => document.documentElement.setAttribute("data-took", String(performance.now() - from))));
      }, { once: true, capture: true });
      document.documentElement.removeAttribute("data-took");
    });
    await page.keyboard.press("1");
    await expect(page.locator("html")).toHaveAttribute("data-took", /./);
    keys.push(Number(await page.locator("html").getAttribute("data-took")));
  }
  console.log(`${largest.file}: ${tries.map(Math.round).join(", ")} ms to the form, ${keys.map(Math.round).join(", ")} ms for a key`);
  expect(Math.min(...tries), "milliseconds to a form that can be filled in").toBeLessThan(atMost(2000));
  expect(Math.min(...keys), "milliseconds from a key to what it shows").toBeLessThan(atMost(100));
  await context.close();
});
