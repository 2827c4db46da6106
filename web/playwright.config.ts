import { defineConfig } from "@playwright/test";

// The suite is started by `go test ./test/web`, which runs a portal and a cluster and says where they are.
export default defineConfig({
  testDir: "e2e",
  outputDir: process.env.ARTIFACTS ?? "test-results",
  workers: 1,
  // On a machine where others work too, a journey may stumble over a late frame: it is told as flaky, and what is broken
  // fails each time.
  retries: 2,
  timeout: 240_000,
  expect: { timeout: 30_000 },
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
