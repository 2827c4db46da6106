import type { BrowserContext } from "@playwright/test";
import { expect, service, signIn, test as base } from "./journey";

// test is a journey of ann, who is signed in. She signs in once: what the browser remembers of it can be used one time only.
export const test = base.extend<object, { ann: BrowserContext }>({
  ann: [
    async ({ browser }, use) => {
      // The issuer's certificate is its own.
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

// offer puts Templates into the catalog under a name, in the place of those that were there, and waits for their forms.
export async function offer(provider: string, specs: Record<string, object>) {
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

export async function withdraw(provider: string) {
  await service(`/api/catalog/providers/${provider}`, { method: "DELETE" });
}

const forms = (name: string) => `/api/scaffolder/v2/templates/default/template/${name}/parameter-schema`;

// formOf waits for the form of a Template, one that fits if that is asked, and returns it.
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

// tasksOf are the tasks that were made of a Template, the newest first.
export async function tasksOf(name: string): Promise<TaskSeen[]> {
  const answer = await service(`/api/scaffolder/v2/tasks?templateRef=template:default/${name}&order=desc:created_at`);
  return ((await answer.json()) as { tasks: TaskSeen[] }).tasks;
}
