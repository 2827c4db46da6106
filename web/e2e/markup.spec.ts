import type { Page } from "@playwright/test";
import { control, expect, catalogReady, service, test, toReview } from "./journey";

// bad returns a text that pages must show as plain text: as markup or as an expression it would run code, and its last
// characters would reverse the text direction of the line. The word tells where the text was placed.
function bad(word: string): string {
  return `${word} <img src=x onerror=ran('${word}')>"'><script>ran('${word}')</script><svg onload=ran('${word}')>{{constructor.constructor("ran('${word}')")()}}\u202Eback`;
}

const link = "javascript:ran('link')//";
const group = "markup.example.org";

const definition = {
  apiVersion: "apiextensions.crossplane.io/v2",
  kind: "CompositeResourceDefinition",
  metadata: {
    name: `evils.${group}`,
    labels: { "openportal.dev/ingest": "true" },
    annotations: {
      "backstage.io/template-title": bad("heading"),
      "backstage.io/template-description": bad("about"),
      "backstage.io/owner": bad("owner"),
      "backstage.io/system": bad("system"),
      "backstage.io/template-tags": `${bad("tag")},plain`,
      "backstage.io/default-namespace": bad("namespace"),
      "backstage.io/api-version": bad("version"),
      "backstage.io/source-location": link,
      "backstage.io/view-url": link,
      "example.org/note": bad("note"),
    },
  },
  spec: {
    scope: "Namespaced",
    group,
    names: { kind: "Evil", plural: "evils" },
    versions: [
      {
        name: "v1",
        served: true,
        referenceable: true,
        additionalPrinterColumns: [{ name: bad("column"), type: "string", jsonPath: ".spec.plain", description: bad("column-about") }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: bad("kind-about"),
            properties: {
              spec: {
                type: "object",
                description: bad("spec-about"),
                required: ["plain"],
                properties: {
                  plain: { type: "string", title: bad("title"), description: bad("field-about"), default: bad("default"), example: bad("example") },
                  choice: { type: "string", description: bad("choice-about"), enum: [bad("first"), bad("second")], default: bad("first") },
                  url: { type: "string", format: "uri", description: link, default: link },
                  list: { type: "array", description: bad("list-about"), items: { type: "string", description: bad("item-about") }, default: [bad("item")] },
                  map: { type: "object", description: bad("map-about"), additionalProperties: { type: "string" }, default: { [bad("key")]: bad("value") } },
                  free: { type: "object", description: bad("free-about"), "x-kubernetes-preserve-unknown-fields": true },
                  deep: { type: "object", title: bad("deep-title"), description: bad("deep-about"), properties: { [bad("name")]: { type: "string", description: bad("inner-about") } } },
                  port: { "x-kubernetes-int-or-string": true, description: bad("port-about") },
                },
                "x-kubernetes-validations": [{ rule: "self.plain != ''", message: bad("message") }],
              },
              status: { type: "object", properties: { url: { type: "string", description: bad("status-about") } } },
            },
          },
        },
      },
    ],
  },
};

const composition = {
  apiVersion: "apiextensions.crossplane.io/v1",
  kind: "Composition",
  metadata: { name: "evils-composed", annotations: { "backstage.io/owner": bad("composition-owner"), "backstage.io/description": bad("composition-about") } },
  spec: {
    compositeTypeRef: { apiVersion: `${group}/v1`, kind: "Evil" },
    mode: "Pipeline",
    pipeline: [{ step: bad("step"), functionRef: { name: bad("function") }, input: { apiVersion: "x.example.org/v1", kind: "Input", text: bad("input") } }],
  },
};

const composite = {
  apiVersion: `${group}/v1`,
  kind: "Evil",
  metadata: { name: "an-evil", namespace: "default", annotations: { "backstage.io/owner": bad("composite-owner"), "example.org/note": bad("composite-note") } },
  spec: { plain: bad("composite-value"), url: link },
};

// pushed is an entity that another program pushes.
const pushed = {
  apiVersion: "backstage.io/v1alpha1",
  kind: "API",
  metadata: {
    name: "evil-pushed",
    title: bad("pushed-title"),
    description: bad("pushed-about"),
    annotations: { "example.org/note": bad("pushed-note") },
    labels: { plain: "x" },
    links: [{ url: "https://example.org/", title: bad("pushed-link"), icon: bad("pushed-icon") }],
  },
  spec: {
    type: "openapi",
    lifecycle: bad("pushed-lifecycle"),
    owner: "platform-team",
    definition: JSON.stringify({
      openapi: "3.0.3",
      info: { title: bad("api-title"), version: bad("api-version"), description: `${bad("api-about")} [a](${link})`, contact: { url: link, name: bad("contact") }, license: { name: bad("license"), url: link } },
      externalDocs: { url: link, description: bad("docs") },
      servers: [{ url: link, description: bad("server") }],
      paths: { [`/${bad("path")}`]: { get: { summary: bad("summary"), description: bad("operation"), operationId: bad("id"), tags: [bad("api-tag")], parameters: [{ name: bad("parameter"), in: "query", schema: { type: "string", enum: [bad("value")] } }], responses: { 200: { description: bad("response") } } } } },
      components: { schemas: { [bad("schema")]: { type: "object", description: bad("schema-about"), properties: { [bad("property")]: { type: "string", example: bad("sample") } } } } },
    }),
  },
};

// odd is a Template whose form names widgets and fields after members of every JavaScript object.
const odd = {
  apiVersion: "scaffolder.backstage.io/v1beta3",
  kind: "Template",
  metadata: { name: "odd-widgets", title: "Odd widgets" },
  spec: {
    type: "service",
    owner: "platform-team",
    parameters: {
      properties: Object.fromEntries(["constructor", "__proto__", "toString", "NoSuchThing"].flatMap((name, i) => [
        [`widget${i}`, { title: `Widget ${i}`, type: "string", "ui:widget": name }],
        [`field${i}`, { title: `Field ${i}`, type: "string", "ui:field": name }],
      ])),
    },
    steps: [{ id: "log", action: "debug:log", input: { message: "hello" } }],
  },
};

async function push(...entities: unknown[]): Promise<{ refused: unknown[] }> {
  const answer = await service("/api/catalog/providers/markup/entities", { method: "PUT", body: entities.map((e) => JSON.stringify(e)).join("\n"), headers: { "Content-Type": "application/x-ndjson" } });
  return (await answer.json()) as { refused: unknown[] };
}

// Write the hostile objects into the cluster, as any user with write access could.
test.beforeAll(async () => {
  await catalogReady();
  await control("/cluster/apply", [definition, composition].map((o) => JSON.stringify(o)).join("\n---\n"));
  await expect(() => control("/cluster/request", JSON.stringify(composite), { method: "POST", path: `/apis/${group}/v1/namespaces/default/evils` })).toPass();
  // The catalog rejects an entity with a javascript: URL in its annotations and accepts one without.
  for (const name of ["view-url", "source-location"]) {
    const hostile = { ...pushed, metadata: { ...pushed.metadata, annotations: { [`backstage.io/${name}`]: link } } };
    expect((await push(hostile)).refused, name).toHaveLength(1);
  }
  expect((await push(pushed, odd)).refused).toEqual([]);
});

test.afterAll(async () => {
  await service("/api/catalog/providers/markup", { method: "DELETE" });
  for (const path of [`/apis/${group}/v1/namespaces/default/evils/an-evil`, "/apis/apiextensions.crossplane.io/v1/compositions/evils-composed", `/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/evils.${group}`]) {
    await control("/cluster/request", "", { method: "DELETE", path });
  }
});

// guard records everything that runs, or that the Content-Security-Policy blocks.
async function guard(page: Page): Promise<string[]> {
  const ran: string[] = [];
  await page.exposeFunction("ran", (what: string) => ran.push(what));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => (window as unknown as { ran: (what: string) => void }).ran(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  });
  page.on("dialog", (d) => {
    ran.push(d.message());
    void d.dismiss();
  });
  return ran;
}

// plain checks that no element of the page was created from text that looks like markup.
async function plain(page: Page, ran: string[]) {
  const made = await page.evaluate(() => {
    const all = [...document.querySelectorAll("*")];
    return [
      ...all.filter((e) => e.getAttributeNames().some((a) => a.startsWith("on"))),
      ...all.filter((e) => ["href", "src", "action", "formaction", "xlink:href"].some((a) => /^\s*javascript:/i.test(e.getAttribute(a) ?? ""))),
      ...document.querySelectorAll('img[src="x"], script:not([src]):not([type="application/json"]), iframe, object, embed'),
    ].map((e) => e.outerHTML.slice(0, 200));
  });
  expect(made, `elements made of text at ${page.url()}`).toEqual([]);
  expect(ran, `what ran at ${page.url()}`).toEqual([]);
}

type Part = { kind: string; metadata: { name: string; namespace: string; title?: string } };

// entities returns the entities that were generated from the hostile objects.
async function entities(): Promise<Part[]> {
  const answer = await service("/api/catalog/entities/by-query?limit=100&fields=kind,metadata.name,metadata.namespace,metadata.title&fullTextFilterTerm=evil");
  return ((await answer.json()) as { items: Part[] }).items;
}

test("markup in catalog and entity pages is escaped", async ({ page, pageErrors }) => {
  test.setTimeout(240_000);
  const ran = await guard(page);
  let all: Part[] = [];
  await expect
    .poll(async () => {
      all = await entities();
      return [...new Set(all.map((e) => e.kind))].sort().join(" ") + (all.some((e) => e.metadata.name.includes("an-evil")) ? ", the composite" : "");
    }, { timeout: 60_000 })
    .toBe("API Resource Template, the composite");

  await page.goto("/catalog?q=evil");
  await expect(page.getByRole("grid", { name: "Entities" }).getByText("pushed-title <img src=x onerror=ran('pushed-title')>").first()).toBeVisible();
  await plain(page, ran);

  for (const { kind, metadata } of all) {
    await page.goto(`/catalog/${metadata.namespace}/${kind.toLowerCase()}/${encodeURIComponent(metadata.name)}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(metadata.title ?? metadata.name);
    const tabs = page.getByRole("main").getByRole("tab");
    await expect(tabs.first()).toBeVisible();
    for (let i = 0; i < (await tabs.count()); i++) {
      await tabs.nth(i).click();
      await expect(page.getByRole("tabpanel")).toBeVisible();
      await expect(page.getByRole("tabpanel").getByRole("status").filter({ hasText: /^Loading/ })).toHaveCount(0);
      await plain(page, ran);
    }
  }
  expect(pageErrors).toEqual([]);
});

test("markup in cards, form and review is escaped", async ({ page, pageErrors }) => {
  const ran = await guard(page);
  await page.goto("/create?q=evil");
  const card = page.getByRole("main").getByText("heading <img src=x onerror=ran('heading')>", { exact: false }).first();
  await expect(card).toBeVisible();
  await plain(page, ran);

  await page.goto(`/create/default/evils.${group}`);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("heading <img");
  await plain(page, ran);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("an-evil");
  await page.getByRole("textbox", { name: "Namespace" }).fill("default");
  await page.getByRole("button", { name: "Next" }).click();
  const form = page.getByRole("main").locator("form");
  await expect(form.getByText("field-about <img src=x onerror=ran('field-about')>", { exact: false })).toBeVisible();
  for (const closed of await form.getByRole("button", { expanded: false }).all()) {
    await closed.click();
  }
  await plain(page, ran);
  await toReview(page);
  await plain(page, ran);
  await page.goto(`/create/default/evils.${group}?step=4`);
  await expect(page.getByRole("heading", { name: "Your input" })).toBeVisible();
  await expect(page.getByRole("main").getByText("<script>ran('default')</script>", { exact: false }).first()).toBeVisible();
  await plain(page, ran);

  await page.goto("/ingestion");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await plain(page, ran);
  expect(pageErrors).toEqual([]);
});

test("unknown widgets fall back to plain fields", async ({ page, pageErrors }) => {
  await page.goto("/create/default/odd-widgets");
  for (const name of ["Widget", "Field"]) {
    for (let i = 0; i < 4; i++) {
      await page.getByRole("textbox", { name: `${name} ${i}` }).fill("x");
    }
  }
  await page.getByRole("button", { name: "Review" }).last().click();
  await expect(page.getByRole("heading", { name: "Your input" })).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test("markup in the playground is escaped", async ({ page, pageErrors }) => {
  const ran = await guard(page);
  await page.goto("/playground");
  const spec = definition.spec;
  // The playground accepts definitions that no API server has validated, so names can be hostile too.
  const worse = { ...definition, metadata: { ...definition.metadata, name: bad("object") }, spec: { ...spec, names: { ...spec.names, kind: bad("word"), plural: bad("words") } } };
  const type = { ...definition, spec: { ...spec, scope: bad("scope"), versions: [{ ...spec.versions[0], schema: { openAPIV3Schema: { type: bad("type") } } }] } };
  const status = page.getByTestId("status");
  for (const [text, said] of [
    [definition, /^evils\.markup\.example\.org: \d+ entities/],
    [worse, /^object <img src=x onerror=ran\('object'\)>.*\ufffdback: \d+ entit.*[a-z]$/],
    [type, /^evils\.markup\.example\.org: \d+ entit|^Error on line \d+/],
  ] as const) {
    await page.getByRole("textbox", { name: "Definition, as YAML or JSON" }).click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(JSON.stringify(text, null, 2));
    await expect(status).toHaveText(said);
    await expect(status).not.toHaveText(/…$/);
    for (const name of ["Findings", "Entities", "API", "Form"]) {
      await page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
      await expect(page.getByRole("tabpanel")).toBeVisible();
      await expect(page.getByRole("tabpanel").getByRole("status").filter({ hasText: /^Loading/ })).toHaveCount(0);
      await plain(page, ran);
    }
    // No form is generated for an invalid name.
    if (text === definition) {
      await page.getByText("Outline", { exact: true }).click();
      await expect(page.getByRole("tabpanel").getByText("field-about <img", { exact: false }).first()).toBeVisible();
      await plain(page, ran);
    }
  }
  expect(pageErrors).toEqual([]);
});
