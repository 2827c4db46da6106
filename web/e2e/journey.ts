import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test as base, type Locator, type Page } from "@playwright/test";

// Journey holds the fixtures of every spec besides the page.
type Journey = {
  // pageErrors collects the errors of the page. It must be empty at the end; specs that provoke errors remove the expected
  // ones.
  pageErrors: string[];
};

// long reports whether the specs run at full size on an otherwise idle machine: `make test-long`.
export const long = process.env.INGESTOR_LONG === "1";

// atMost returns the time limit for something that takes this many milliseconds at most on an idle machine.
export function atMost(milliseconds: number): number {
  return long ? milliseconds : 5 * milliseconds;
}

// median returns the median of some numbers.
export function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

const issuer = process.env.ISSUER_URL ?? "https://issuer.invalid";

// test watches every page: no console errors and no requests to other hosts, except to the OpenID Connect issuer.
export const test = base.extend<Journey>({
  pageErrors: async ({ page, baseURL }, use) => {
    const pageErrors: string[] = [];
    const ours = (url: string) => url.startsWith(baseURL ?? "") || url.startsWith(issuer) || /^(data|blob|about):/.test(url);
    page.on("console", (m) => {
      if (m.type() === "error" && !m.location().url.startsWith(issuer) && !page.url().startsWith(issuer)) {
        pageErrors.push(`console: ${m.text()} (${m.location().url})`);
      }
    });
    page.on("pageerror", (err) => pageErrors.push(`error: ${err.message}`));
    page.on("request", (r) => {
      if (!ours(r.url()) && !page.url().startsWith(issuer)) {
        pageErrors.push(`another host was asked: ${r.url()}`);
      }
    });
    await use(pageErrors);
    expect(pageErrors, "what went wrong in the page").toEqual([]);
  },
});

export { expect };

// accessible checks the page against WCAG AA, or only a part of it if the rest was checked before.
export async function accessible(page: Page, part: "all" | "colors" | "structure" = "all") {
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] });
  if (part === "colors") {
    axe.withRules(["color-contrast"]);
  } else {
    axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]).disableRules(part === "structure" ? ["color-contrast"] : []);
  }
  const found = await axe.analyze();
  const said = found.violations.map((v) => `${v.id}: ${v.help}\n${v.nodes.map((n) => `    ${n.target.join(" ")}: ${n.failureSummary ?? ""}`).join("\n")}`);
  expect(said, `accessibility of ${page.url()}`).toEqual([]);
}

// Sizes of the screenshots: a desktop, a tablet or small window, and a phone.
export const sizes = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
};

// show checks in three widths that nothing of the page is cut, and the page against WCAG AA, in light and dark mode. If
// SCREENSHOTS names a folder, it also takes screenshots of all of these.
export async function show(page: Page, name: string) {
  const dir = process.env.SCREENSHOTS ?? "";
  if (dir !== "") {
    mkdirSync(dir, { recursive: true });
  }
  const before = page.viewportSize();
  for (const size of Object.values(sizes)) {
    await page.setViewportSize(size);
    for (const colors of ["light", "dark"] as const) {
      if (dir === "" && colors === "dark" && size !== sizes.desktop) {
        continue;
      }
      await page.emulateMedia({ colorScheme: colors, reducedMotion: "reduce" });
      await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colors);
      await settled(page);
      if (colors === "light") {
        await expect.poll(() => cutIn(page), { message: `what is cut in ${name} at ${size.width} px` }).toEqual([]);
      }
      if (size === sizes.desktop) {
        await accessible(page, colors === "light" ? "all" : "colors");
      } else if (size === sizes.phone && colors === "light") {
        await accessible(page, "structure");
      }
      if (dir !== "") {
        await page.screenshot({ path: join(dir, `${name}-${size.width}-${colors}.png`) });
      }
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference" });
  if (before) {
    await page.setViewportSize(before);
  }
}

// settled waits for lists that load, running transitions and fonts.
async function settled(page: Page) {
  await expect(page.locator("[data-busy]")).toHaveCount(0);
  await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all(document.getAnimations().filter((a) => a.effect?.getComputedTiming().iterations !== Infinity).map((a) => a.finished.catch(() => undefined)));
  });
}

// cutIn returns what the page cuts: a page that scrolls sideways, and texts that are not shown in full. What can be
// scrolled to is not cut, nor is the edge of a graph, which can be moved; texts in its nodes can be cut, and
// at their lower edge, too.
export async function cutIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) {
      found.push(`the page is ${root.scrollWidth} px wide`);
    }
    const isHidden = (e: Element) => {
      const style = getComputedStyle(e);
      return style.clipPath !== "none" || style.clip !== "auto" || style.visibility === "hidden" || (e.clientWidth <= 1 && e.clientHeight <= 1);
    };
    for (const e of document.body.querySelectorAll<HTMLElement>("*")) {
      const style = getComputedStyle(e);
      const text = e.textContent?.trim().slice(0, 60) ?? "";
      if (e.closest(".react-flow__node") && style.overflowY === "hidden" && e.scrollHeight > e.clientHeight + 1) {
        found.push(`${e.tagName.toLowerCase()}.${e.className}: ${text}`);
        continue;
      }
      const clips = style.overflowX === "hidden" || style.overflowX === "clip";
      if (text === "" || !clips || e.scrollWidth <= e.clientWidth + 1 || e.closest("[aria-hidden=true], svg") || e.querySelector(".react-flow__viewport") || e.matches(".react-flow")) {
        continue;
      }
      // Something inside is wider: the text itself, and not a hidden label or a decoration.
      const box = e.getBoundingClientRect();
      const range = document.createRange();
      const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.textContent?.trim() || !node.parentElement || isHidden(node.parentElement) || isHidden(e)) {
          continue;
        }
        range.selectNodeContents(node);
        const at = range.getBoundingClientRect();
        if (at.width > 0 && (at.right > box.right + 1 || at.left < box.left - 1)) {
          found.push(`${e.tagName.toLowerCase()}.${e.className}: ${text}`);
          break;
        }
      }
    }
    return [...new Set(found)];
  });
}

// control starts and stops the portal and the clusters: see test/web.
export async function control(what: string, body = "", query: Record<string, string> = {}) {
  const url = new URL(what, process.env.CONTROL_URL);
  url.search = new URLSearchParams(query).toString();
  const answer = await fetch(url, { method: "POST", body });
  const said = await answer.text();
  expect(answer.ok, `${what}: ${said}`).toBe(true);
  return said;
}

// signIn signs in at the issuer from the current page and waits for the redirect back.
export async function signIn(page: Page, name = "ann") {
  const back = new URL(page.url());
  await page.getByRole("button", { name: /Browsing as guest|Not signed in/ }).click();
  await page.getByRole("menuitem", { name: "Sign in" }).click();
  await page.locator('input[name="login"]').fill(name);
  await page.locator('input[name="password"]').fill("anything");
  await page.locator('button[type="submit"]').click();
  await page.locator('button[type="submit"]').click();
  await page.waitForURL((url) => url.pathname === back.pathname && url.host === back.host);
  await expect(page.getByRole("button", { name: `Signed in as ${name}` })).toBeVisible();
}

// service sends a request to the portal as a service with all permissions.
export async function service(path: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(new URL(path, process.env.BASE_URL), {
    ...init,
    headers: { Authorization: `Bearer ${process.env.SERVICE_TOKEN}`, ...init.headers },
  });
  expect(answer.ok, `${path} answers ${answer.status}`).toBe(true);
  return answer;
}

// catalogReady waits until the catalog holds the entities of the examples.
export async function catalogReady() {
  await expect
    .poll(async () => {
      const answer = await service("/api/catalog/entities/by-query?limit=0&filter=kind=template");
      return ((await answer.json()) as { totalItems: number }).totalItems;
    }, { timeout: 60_000 })
    .toBeGreaterThan(10);
}

// countClicks counts the clicks in a page, over its reloads, and returns a function that returns their number.
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    document.addEventListener("click", (e) => {
      if (e.isTrusted) {
        sessionStorage.setItem("test.clicks", String(Number(sessionStorage.getItem("test.clicks") ?? 0) + 1));
      }
    }, true);
  });
  return () => page.evaluate(() => Number(sessionStorage.getItem("test.clicks")));
}

// tabTo presses Tab until an element has the focus.
export async function tabTo(page: Page, target: Locator, most = 80) {
  await expect(target).toBeVisible();
  for (let i = 0; i < most; i++) {
    if (await target.evaluate((e) => e === document.activeElement)) {
      return;
    }
    await page.keyboard.press("Tab");
  }
  await expect(target, `within ${most} times Tab`).toBeFocused();
}

// toReview goes through the remaining pages of a form to the review.
export async function toReview(page: Page) {
  while (await page.getByRole("button", { name: "Next" }).isVisible()) {
    const step = page.url();
    await page.getByRole("button", { name: "Next" }).click();
    await expect(page).not.toHaveURL(step);
  }
  await page.getByRole("button", { name: "Review" }).last().click();
}
