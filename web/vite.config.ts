import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The backend that the development server asks; `make run` listens there.
const backend = process.env.BACKEND ?? "http://localhost:7007";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
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
    testTimeout: 20_000,
  },
});
