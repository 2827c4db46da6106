import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DataTable, type Column } from "./DataTable";

type Fruit = { name: string; color: string };

const columns: Column<Fruit>[] = [
  { title: "Color", cell: (f) => f.color },
  { title: "Name", cell: (f) => f.name, priority: "key" },
  { title: "Actions", cell: () => <button type="button">Eat</button>, silent: true },
];

test("DataTable is a table for screen readers, with labels for stacked rows", () => {
  render(
    <MantineProvider env="test">
      <DataTable label="Fruits" columns={columns} rows={[{ name: "<b>Apple</b>", color: "red" }, { name: "Lime", color: "" }]} keyOf={(f) => f.name} />
    </MantineProvider>,
  );
  const table = within(screen.getByRole("region", { name: "Fruits" })).getByRole("table");
  expect(within(table).getAllByRole("columnheader").map((c) => c.textContent)).toEqual(["Color", "Name", "Actions"]);
  expect(within(table).getAllByRole("rowheader").map((c) => c.textContent)).toEqual(["<b>Apple</b>", "Lime"]);
  const row = within(table).getByRole("row", { name: /Apple/ });
  expect(within(row).getAllByRole("cell").map((c) => c.getAttribute("data-label"))).toEqual(["Color", null]);
});
