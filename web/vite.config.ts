import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The backend that the development server asks; `make run` listens there.
const backend = process.env.BACKEND ?? "http://localhost:7007";

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      // A helper for the form library's own tests names a validator that would need unsafe-eval. Nothing here calls it.
      "@rjsf/validator-ajv8": fileURLToPath(new URL("src/app/none.ts", import.meta.url)),
    },
  },
  build: {
    target: "es2022",
    // The styles say light-dark(), which is to stay as it is: Mantine decides which of the two holds.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The policy of the page allows no data: scripts, and fonts and pictures are few: every asset is a file.
    assetsInlineLimit: 0,
    // The form, the graph and the editor are large and asked for only when they are needed.
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
    // The form component imports a validator that is not installed, for its own tests; Vite leaves that out, Node does not.
    server: { deps: { inline: [/@rjsf\//] } },
    testTimeout: 20_000,
  },
});
