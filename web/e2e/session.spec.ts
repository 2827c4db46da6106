import type { BrowserContext, Page } from "@playwright/test";
import { pushTemplates, tasksOf, removeProvider } from "./ann";
import { expect, catalogReady, show, signIn, test } from "./journey";

const note = {
  parameters: [{ title: "The note", required: ["name"], properties: { name: { type: "string", title: "Name" }, text: { type: "string", title: "Text" } } }],
  steps: [{ id: "say", name: "Say it", action: "debug:log", input: { message: "${{ parameters.text }}" } }],
};

let context: BrowserContext;
let page: Page;

test.beforeAll(async ({ browser }) => {
  await catalogReady();
  await pushTemplates("session", { "session-note": note });
  // The issuer uses a self-signed certificate.
  context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: process.env.BASE_URL });
  page = await context.newPage();
  await page.goto("/create/default/session-note");
  await signIn(page);
});
test.afterAll(async () => {
  await context.close();
  await removeProvider("session");
});

test("a token that expires while a form is filled in is renewed", async () => {
  const renewals: number[] = [];
  page.on("response", (r) => r.url().endsWith("/api/auth/oidc/refresh") && renewals.push(r.status()));
  await page.clock.install();
  await page.goto("/create/default/session-note");
  await page.getByLabel("Name").fill("quiet");
  await expect.poll(() => renewals.length).toBe(1);
  // The token has expired after an hour.
  await page.clock.fastForward("01:10:00");
  await page.getByLabel("Text").fill("typed an hour later");
  await page.getByRole("button", { name: "Review" }).last().click();
  await expect(page.getByText("Dry run passed")).toBeVisible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page).toHaveURL(/\/tasks\//);
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect(renewals.length).toBeGreaterThan(1);
  expect(renewals.every((status) => status === 200)).toBe(true);
  expect((await tasksOf("session-note"))[0]?.spec.parameters).toEqual({ name: "quiet", text: "typed an hour later" });
});

test("a token that is rejected on submit is renewed", async () => {
  await page.goto("/create/default/session-note");
  await page.getByLabel("Name").fill("refused");
  await page.getByLabel("Text").fill("once");
  await page.getByRole("button", { name: "Review" }).last().click();
  await expect(page.getByText("Dry run passed")).toBeVisible();
  let refused = 0;
  await page.route("**/api/scaffolder/v2/tasks", async (route) => {
    if (refused++ === 0) {
      await route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ error: { name: "AuthenticationError", message: "Illegal token" } }) });
      return;
    }
    await route.continue();
  });
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  await page.unroute("**/api/scaffolder/v2/tasks");
  expect(refused).toBeGreaterThan(1);
  // Only one task was created.
  expect((await tasksOf("session-note")).filter((t) => t.spec.parameters["name"] === "refused")).toHaveLength(1);
});

test("after an expired session, sign-in restores the form", async () => {
  await page.goto("/create/default/session-note");
  await page.getByLabel("Name").fill("again");
  await page.getByLabel("Text").fill("typed before the session was over");
  await page.getByRole("button", { name: "Review" }).last().click();
  await expect(page).toHaveURL(/step=2/);
  await expect(page.getByText("Dry run passed")).toBeVisible();
  // Drop the session cookie and reject the token.
  await context.clearCookies();
  await page.route("**/api/scaffolder/v2/**", (route) => route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ error: { name: "AuthenticationError", message: "Illegal token" } }) }));
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await show(page, "signin-again");
  await page.unroute("**/api/scaffolder/v2/**");
  await page.getByRole("button", { name: /^Sign in/ }).click();
  // The issuer may still have a session.
  const login = page.locator('input[name="login"]');
  const review = page.getByRole("heading", { name: "Your input" });
  await expect(login.or(review)).toBeVisible();
  if (await login.isVisible()) {
    await login.fill("ann");
    await page.locator('input[name="password"]').fill("anything");
    await page.locator('button[type="submit"]').click();
    await page.locator('button[type="submit"]').click();
  }
  await expect(page).toHaveURL(/\/create\/default\/session-note\?step=2/);
  await expect(page.getByText("typed before the session was over").first()).toBeVisible();
  await expect(page.getByText("Dry run passed")).toBeVisible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("status").getByText("Completed")).toBeVisible();
  expect((await tasksOf("session-note"))[0]?.spec.parameters).toEqual({ name: "again", text: "typed before the session was over" });
});
