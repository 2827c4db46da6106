import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The backend that the development server proxies to; `make run` listens there.
const backend = process.env.BACKEND ?? "http://localhost:7007";

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      // A test helper of the form library imports a validator that needs unsafe-eval. Nothing here calls it.
      "@rjsf/validator-ajv8": fileURLToPath(new URL("src/app/emptyModule.ts", import.meta.url)),
    },
  },
  build: {
    target: "es2022",
    // Keep light-dark() in the styles: Mantine selects the scheme.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The Content-Security-Policy allows no data: scripts, and there are few fonts and images: every asset is a file.
    assetsInlineLimit: 0,
    // The form, the graph and the editor are large and loaded on demand.
    chunkSizeWarningLimit: 1200,
    manifest: true,
  },
  server: {
    proxy: { "/api": { target: backend, changeOrigin: true } },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/app/testing.ts"],
    restoreMocks: true,
    // One browser environment for all files of a worker: creating one for each takes longer than the tests.
    isolate: false,
    // The form library imports a validator that is not installed, for its own tests; Vite drops the import, Node does not.
    server: { deps: { inline: [/@rjsf\//] } },
    testTimeout: 20_000,
  },
});
