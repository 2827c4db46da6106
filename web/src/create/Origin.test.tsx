import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Origin } from "./Origin";

const cases: [origin: string, text: string, title: RegExp][] = [
  ["definition", "Generated from a definition", /has chosen where/],
  ["config", "Configured by the operator", /has chosen where/],
  ["registered", "Registered location", /has not chosen/],
  ["push:ci", "Pushed by ci", /has not chosen/],
  ["push:definition", "Pushed by definition", /has not chosen/],
  ["constructor", "constructor", /has not chosen/],
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
