import type { BrowserContext } from "@playwright/test";
import { expect, service, signIn, test as base } from "./journey";

// test runs a spec as the signed-in user ann. She signs in once per worker, because the refresh cookie can be used only
// once.
export const test = base.extend<object, { ann: BrowserContext }>({
  ann: [
    async ({ browser }, use) => {
      // The issuer uses a self-signed certificate.
      const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: process.env.BASE_URL, viewport: { width: 1280, height: 800 } });
      const page = await context.newPage();
      await page.goto("/tasks");
      await signIn(page);
      await page.close();
      await use(context);
      await context.close();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  context: async ({ ann }, use) => {
    await use(ann);
    await Promise.all(ann.pages().map((page) => page.close()));
  },
});

// pushTemplates replaces the Templates of a provider and waits until their forms are available.
export async function pushTemplates(provider: string, specs: Record<string, object>) {
  const lines = Object.entries(specs).map(([name, spec]) =>
    JSON.stringify({
      apiVersion: "scaffolder.backstage.io/v1beta3",
      kind: "Template",
      metadata: { name, title: name.replaceAll("-", " ").replace(/^./, (c) => c.toUpperCase()), description: "For a journey." },
      spec: { type: "journey", owner: "group:default/platform-team", ...spec },
    }),
  );
  await service(`/api/catalog/providers/${provider}/entities`, { method: "PUT", body: lines.join("\n"), headers: { "Content-Type": "application/x-ndjson" } });
  for (const name of Object.keys(specs)) {
    await formOf(name);
  }
}

export async function removeProvider(provider: string) {
  await service(`/api/catalog/providers/${provider}`, { method: "DELETE" });
}

const forms = (name: string) => `/api/scaffolder/v2/templates/default/template/${name}/parameter-schema`;

// formOf waits for the form of a Template, optionally one that matches a condition, and returns it.
export async function formOf(name: string, fits: (form: string) => boolean = () => true): Promise<string> {
  let text = "";
  await expect
    .poll(
      async () => {
        const answer = await fetch(new URL(forms(name), process.env.BASE_URL), { headers: { Authorization: `Bearer ${process.env.SERVICE_TOKEN}` } });
        text = await answer.text();
        return answer.ok && fits(text);
      },
      { timeout: 60_000, message: `the form of ${name}` },
    )
    .toBe(true);
  return text;
}

export type TaskSeen = { id: string; status: string; spec: { parameters: Record<string, unknown> } };

// tasksOf returns the tasks of a Template, newest first.
export async function tasksOf(name: string): Promise<TaskSeen[]> {
  const answer = await service(`/api/scaffolder/v2/tasks?templateRef=template:default/${name}&order=desc:created_at`);
  return ((await answer.json()) as { tasks: TaskSeen[] }).tasks;
}
