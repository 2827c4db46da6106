import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { describe, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { Facet } from "./Facet";
import { Name } from "./Name";
import { ErrorAlert } from "./State";
import { duration, relative } from "./Time";
import { toYaml } from "./toYaml";
import { Yaml } from "./Yaml";

const show = (what: ReactNode) => render(<MantineProvider env="test">{what}</MantineProvider>);

describe("Facet", () => {
  const values = Array.from({ length: 20 }, (_, i) => ({ value: `v${i}`, count: 20 - i }));

  test("shows the most frequent values first and expands to all", async () => {
    show(<Facet title="Tags" values={values} chosen={[]} onChange={() => undefined} />);
    expect(screen.getAllByRole("checkbox")).toHaveLength(6);
    await userEvent.click(screen.getByRole("button", { name: "Show all 20 tags" }));
    expect(screen.getAllByRole("checkbox")).toHaveLength(20);
    await userEvent.type(screen.getByRole("textbox", { name: "Search in Tags" }), "V1");
    expect(screen.getAllByRole("checkbox").map((c) => c.getAttribute("aria-label") ?? (c as HTMLInputElement).labels?.[0]?.textContent)).toContain("v19");
    expect(screen.queryByLabelText("v2")).toBeNull();
  });

  test("selected values can be cleared, even with a count of zero", async () => {
    const change = vi.fn();
    show(<Facet title="Tags" values={values} chosen={["gone", "V19"]} onChange={change} />);
    await userEvent.click(screen.getByLabelText("gone"));
    expect(change).toHaveBeenLastCalledWith(["V19"]);
    await userEvent.click(screen.getByLabelText("v19"));
    expect(change).toHaveBeenLastCalledWith(["gone"]);
    await userEvent.click(screen.getByLabelText("v0"));
    expect(change).toHaveBeenLastCalledWith(["gone", "V19", "v0"]);
  });
});

test("ErrorAlert shows the error and a retry button", async () => {
  const retry = vi.fn();
  show(<ErrorAlert error={new ApiError(503, "ServiceUnavailableError", "The database is unavailable")} retry={retry} />);
  expect(screen.getByRole("alert").textContent).toContain("Temporarily unavailable");
  expect(screen.getByText("The database is unavailable")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(retry).toHaveBeenCalledOnce();
});

test("Name can break after dots, slashes and hyphens", () => {
  const { container } = show(<Name>apps/orders-api.example.org --x 1.</Name>);
  expect(container.innerHTML).toContain("apps/<wbr>orders-<wbr>api.<wbr>example.<wbr>org --<wbr>x 1.");
});

test("Yaml shows line numbers and escapes markup", () => {
  show(<Yaml text={'a: "<script>alert(1)</script>"\nb: 2\n'} label="The manifest" />);
  const view = screen.getByRole("region", { name: "The manifest" });
  expect(view.querySelectorAll("pre")[0]?.textContent).toBe("1\n2");
  expect(view.querySelector("script")).toBeNull();
  expect(view.textContent).toContain("<script>alert(1)</script>");
});

test("Yaml shows a title and further buttons in its bar, or all of it elsewhere", () => {
  const elsewhere = document.createElement("div");
  const { rerender } = show(<Yaml text="a: 1" label="The manifest" left={<h2>Manifest</h2>} actions={<button>Explain</button>} />);
  expect(screen.getByRole("heading", { name: "Manifest" })).toBeTruthy();
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Explain", "Copy"]);
  rerender(
    <MantineProvider env="test">
      <Yaml text="a: 1" label="The manifest" into={elsewhere} />
    </MantineProvider>,
  );
  expect(screen.queryByRole("button")).toBeNull();
  expect(elsewhere.textContent).toBe("Copy");
});

test("toYaml folds no lines and writes no anchors", () => {
  const shared = { long: "word ".repeat(60).trim() };
  const text = toYaml({ a: shared, b: shared });
  expect(text).not.toMatch(/[&*]a1/);
  expect(text.split("\n").filter(Boolean)).toHaveLength(4);
});

test.each([
  [0, "just now"],
  [-30_000, "30 seconds ago"],
  [-90_000, "1 minute ago"],
  [-7_200_000, "2 hours ago"],
  [-86_400_000, "yesterday"],
  [3_600_000, "in 1 hour"],
])("relative formats %d ms as %s", (offset, want) => expect(relative(1e12 + offset, 1e12)).toBe(want));

test.each([
  [12, "12 ms"],
  [1500, "1.5 s"],
  [61_000, "1 min 1 s"],
])("duration formats %d ms as %s", (ms, want) => expect(duration(ms)).toBe(want));
