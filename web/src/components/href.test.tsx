import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { DataLink } from "./DataLink";
import { safeHref } from "./href";

const bad = [
  "javascript:alert(1)",
  " JaVaScRiPt:alert(1)",
  "\u0001javascript:alert(1)",
  "java\tscript:alert(1)",
  "java\r\nscript\n:alert(1)",
  "vbscript:msgbox(1)",
  "data:text/html,<script>1</script>",
  "DATA:text/html;base64,AA==",
  "blob:https://example.org/1",
  "file:///etc/passwd",
  "",
  " ",
  undefined,
  null,
  3,
  ["javascript:alert(1)"],
  { toString: () => "javascript:alert(1)" },
];

describe("safeHref", () => {
  test.each(bad.map((url) => [url]))("rejects %j", (url) => {
    expect(safeHref(url)).toBeUndefined();
    expect(safeHref(url, { relative: true })).toBeUndefined();
  });
  test.each([
    ["https://docs.example.org/a", "https://docs.example.org/a"],
    ["HTTP://example.org", "http://example.org/"],
    ["mailto:team@example.org", "mailto:team@example.org"],
    ["/relative", undefined],
  ])("accepts %s", (url, want) => expect(safeHref(url)).toBe(want));
  test("accepts a relative URL if allowed", () => expect(safeHref("/catalog", { relative: true })).toBe(`${window.location.origin}/catalog`));
});

describe("DataLink", () => {
  test.each(bad.map((url) => [url]))("shows %j as text", (url) => {
    render(
      <MantineProvider env="test">
        <DataLink url={url} title="Here" />
      </MantineProvider>,
    );
    expect(screen.getByText(/^Here/)).toBeTruthy();
    expect(document.querySelector("a")).toBeNull();
  });
  test("opens a web URL in a new tab", () => {
    render(
      <MantineProvider env="test">
        <DataLink url="https://example.org/a" />
      </MantineProvider>,
    );
    const link = screen.getByRole("link");
    expect([link.getAttribute("href"), link.getAttribute("target"), link.getAttribute("rel")]).toEqual(["https://example.org/a", "_blank", "noopener noreferrer"]);
  });
});

// All other links are constants or router paths with encoded segments.
test("only DataLink links to untrusted URLs", () => {
  const folder = join(import.meta.dirname, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".tsx") && !f.endsWith(".test.tsx"));
  expect(files.length).toBeGreaterThan(50);
  const found = files.filter((f) => /\b(href|src|formAction|xlinkHref)=\{|dangerouslySetInnerHTML/.test(readFileSync(join(folder, f), "utf8")));
  // The path of the logo comes from the server.
  expect(found.sort()).toEqual([join("app", "Brand.tsx"), join("components", "DataLink.tsx")]);
});
