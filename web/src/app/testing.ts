import { afterEach } from "vitest";
import { cleanup, configure } from "@testing-library/react";

// A machine that does other things too may need more than the usual second.
configure({ asyncUtilTimeout: 10_000 });

afterEach(cleanup);

// What Mantine and the tables ask of a browser, and jsdom does not have.
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
