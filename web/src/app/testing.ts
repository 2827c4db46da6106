import { afterEach } from "vitest";
import { cleanup, configure } from "@testing-library/react";

// A busy machine may need more than the default second.
configure({ asyncUtilTimeout: 10_000 });

afterEach(cleanup);

// Browser APIs that Mantine and the tables need and jsdom lacks.
if (!window.matchMedia) {
  window.matchMedia = (query: string) =>
    ({
      matches: false,
      media: query,
      onchange: null,
      addListener: () => undefined,
      removeListener: () => undefined,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
      dispatchEvent: () => false,
    }) as MediaQueryList;
}
if (!window.ResizeObserver) {
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
}
