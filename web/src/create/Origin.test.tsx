import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Origin } from "./Origin";

const cases: [origin: string, text: string, title: RegExp][] = [
  ["definition", "Generated from a definition", /^Trusted source/],
  ["config", "Configured by an administrator", /^Trusted source/],
  ["registered", "Registered location", /^Untrusted source/],
  ["push:ci", "Pushed by ci", /^Untrusted source/],
  ["push:definition", "Pushed by definition", /^Untrusted source/],
  ["constructor", "constructor", /^Untrusted source/],
];

test.each(cases)("a template from %s", (origin, text, title) => {
  render(
    <MantineProvider>
      <Origin of={origin} />
    </MantineProvider>,
  );
  expect(screen.getByText(text)).toBeTruthy();
  expect(screen.getByTitle(title)).toBeTruthy();
});
