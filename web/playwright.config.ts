import { defineConfig } from "@playwright/test";

// `go test ./test/web` starts the suite: it runs a portal and clusters and passes their addresses.
export default defineConfig({
  testDir: "e2e",
  outputDir: process.env.ARTIFACTS ?? "test-results",
  workers: 1,
  // On a busy machine a test may fail because of a late frame; a retry reports it as flaky. A real failure fails every
  // time.
  retries: 2,
  timeout: 240_000,
  // Pictures to compare with. `INGESTOR_JOURNEYS=home.spec.ts go test ./test/web -update` takes them again.
  snapshotPathTemplate: "e2e/pictures/{arg}{ext}",
  expect: { timeout: 30_000, toHaveScreenshot: { maxDiffPixels: 500 } },
  reporter: [["list"]],
  use: {
    baseURL: process.env.BASE_URL,
    viewport: { width: 1280, height: 800 },
    screenshot: "only-on-failure",
    trace: "off",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
