import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { openPage, photos, startWorld } from "./pageTesting";

let world: ReturnType<typeof startWorld>;

beforeEach(() => {
  world = startWorld();
});

describe("EntityPage", () => {
  it("escapes markup and links only to safe URLs", async () => {
    const { container } = openPage();
    expect(await screen.findByRole("heading", { level: 1, name: "<b>photos</b>" })).toBeTruthy();
    expect(screen.getByText("<script>alert(1)</script>")).toBeTruthy();
    expect(container.querySelector("script, b")).toBeNull();
    expect(screen.getByRole("link", { name: "Open" }).getAttribute("href")).toBe("https://photos.example.org/");
    expect(screen.queryByRole("link", { name: "Run" })).toBeNull();
    expect(screen.getByText("Not ready")).toBeTruthy();
  });

  it("shows specification, status, and the name of the connection secret", async () => {
    world.parts["object"] = {
      cluster: "production",
      object: { metadata: { namespace: "shop" }, spec: { size: "small", writeConnectionSecretToRef: { name: "photos-conn" } }, status: { url: "https://photos.example.org/x", odd: "javascript:alert(1)", conditions: [] } },
    };
    openPage();
    const spec = within(await screen.findByRole("region", { name: "Specification" }));
    expect(spec.getByText("small")).toBeTruthy();
    const reported = within(screen.getByRole("region", { name: "Reported by the cluster" }));
    expect(reported.getByRole("link").getAttribute("href")).toBe("https://photos.example.org/x");
    expect(screen.getByText(/^kubectl get secret photos-conn --namespace shop /)).toBeTruthy();
  });

  it("lists what tasks have done", async () => {
    world.parts["history"] = { items: [{ task: "t1", template: "template:default/bucket-update", by: "user:default/ada", at: "2026-01-02T03:04:05Z", operation: "update", fields: ["spec.size"] }] };
    openPage("?tab=history");
    const table = within(await screen.findByRole("region", { name: "History" }));
    expect(table.getByText("spec.size")).toBeTruthy();
    expect(table.getByRole("link", { name: "View task" }).getAttribute("href")).toBe("/tasks/t1");
  });

  it("keeps the tab in the URL", async () => {
    openPage("?tab=conditions");
    const table = within(await screen.findByRole("region", { name: "Conditions" }));
    expect(table.getByText("Creating")).toBeTruthy();
    await userEvent.click(screen.getByRole("tab", { name: "YAML" }));
    expect((await screen.findByRole("region", { name: /YAML of/ })).textContent).toContain("kind: Resource");
  });

  it("refreshes conditions", async () => {
    openPage("?tab=conditions");
    await screen.findByText("Creating");
    const next = structuredClone(photos);
    next.metadata.annotations["composer.io/condition-ready"] = "True";
    world.entity = next;
    const table = within(screen.getByRole("region", { name: "Conditions" }));
    expect(await table.findByText("True")).toBeTruthy();
  });

  it("shows message and time of conditions", async () => {
    world.conditions = [
      { type: "Synced", status: "True", reason: "ReconcileSuccess" },
      { type: "Ready", status: "False", reason: "Waiting", message: "<b>1 of 3</b>", lastTransitionTime: new Date(Date.now() - 7_200_000).toISOString() },
    ];
    openPage("?tab=conditions");
    const table = within(await screen.findByRole("region", { name: "Conditions" }));
    expect(await table.findByText("<b>1 of 3</b>")).toBeTruthy();
    expect(table.getAllByRole("rowheader").map((th) => th.textContent)).toEqual(["Ready", "Synced"]);
    expect(table.getByText("2 hours ago")).toBeTruthy();
  });

  it("does not link to missing entities", async () => {
    openPage();
    expect((await screen.findAllByText("(not in the catalog)")).length).toBeGreaterThan(0);
    expect(screen.queryByRole("link", { name: "team" })).toBeNull();
    expect(screen.getAllByRole("link", { name: "buckets-xrd" }).length).toBeGreaterThan(0);
  });

  it("tells that the entity was removed and links to others", async () => {
    openPage("?tab=conditions");
    await screen.findByText("Creating");
    world.entity = undefined;
    expect(await screen.findByText("Bucket photos has been removed")).toBeTruthy();
    expect(screen.getByRole("link", { name: "View others of this type" }).getAttribute("href")).toBe("/catalog?kind=Resource&type=composer-xr");
  });

  it("shows a missing owner", async () => {
    const alone = structuredClone(photos);
    alone.spec.owner = "";
    world.entity = alone;
    openPage();
    expect(await screen.findByText("No owner")).toBeTruthy();
  });

  it("explains where values come from to users with permission", async () => {
    openPage("?tab=explain");
    expect(await screen.findByText(/annotation on the definition/)).toBeTruthy();
    expect(screen.getByText("no description")).toBeTruthy();
    expect(screen.queryByText(/the resource itself/)).toBeNull();
  });

  it("hides the explanation without permission", async () => {
    world.allowed = false;
    openPage("?tab=explain");
    expect(await screen.findByText("Permission required")).toBeTruthy();
  });

  it("shows a not-found state", async () => {
    world.entity = undefined;
    openPage();
    expect(await screen.findByRole("heading", { level: 1, name: "Cannot find resource photos-1" })).toBeTruthy();
    expect(screen.getByRole<HTMLInputElement>("searchbox").value).toBe("photos-1");
    expect((await screen.findByRole("link", { name: "shop/photos-1" })).getAttribute("href")).toBe("/catalog/shop/component/photos-1");
    expect(screen.getByText("Component in namespace shop")).toBeTruthy();
  });
});
