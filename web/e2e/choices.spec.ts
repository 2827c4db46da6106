import { formOf, pushTemplates, removeProvider, test } from "./ann";
import { catalogReady, control, expect, show, tabTo } from "./journey";

const template = "vaults.choices.example.org";

const definition = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: vaults.choices.example.org
  labels: {openportal.dev/ingest: "true", terasky.backstage.io/generate-form: "true"}
spec:
  scope: Namespaced
  group: choices.example.org
  names: {kind: Vault, plural: vaults}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                class:
                  type: string
                  description: Where the data is stored.
                  x-ui-choices: {apiVersion: storage.k8s.io/v1, kind: StorageClass, labelSelector: {matchLabels: {journey: choices}}, labelPath: metadata.annotations.title}
                copies:
                  type: array
                  description: Where copies are stored.
                  items: {type: string}
                  x-ui-choices: {apiVersion: storage.k8s.io/v1, kind: StorageClass, labelSelector: journey=choices}
`;

const classes = ["journey-nvme", "journey-ssd"]
  .map((name) => `---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ${name}, labels: {journey: choices}, annotations: {title: "Title of ${name}"}}, provisioner: example.org/x}\n`)
  .join("");

// hidden is a Template whose author wants to list Secrets.
const hidden = {
  parameters: [{ title: "Hidden", properties: { key: { type: "string", title: "Key", "ui:field": "LiveChoices", "ui:options": { choices: { apiVersion: "v1", kind: "Secret" } } } } }],
  steps: [{ id: "say", name: "Say it", action: "debug:log", input: { message: "x" } }],
};

test.beforeAll(async () => {
  await catalogReady();
  await control("/cluster/apply", definition + classes);
  await pushTemplates("choices", { "choices-hidden": hidden });
  // The hint survives in a cluster.
  await formOf(template, (form) => form.includes("LiveChoices"));
});
test.afterAll(async () => {
  await removeProvider("choices");
  for (const name of ["journey-nvme", "journey-ssd"]) {
    await control("/cluster/request", "", { method: "DELETE", path: `/apis/storage.k8s.io/v1/storageclasses/${name}` });
  }
  await control("/cluster/request", "", { method: "DELETE", path: `/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/${template}` });
});

test("a developer chooses a StorageClass of the cluster, or types another one", async ({ page }) => {
  await page.goto(`/create/default/${template}`);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("safe");
  await page.getByRole("textbox", { name: "Namespace" }).fill("default");
  await page.getByRole("button", { name: "Next" }).click();
  const field = page.getByRole("combobox", { name: "Class" });
  await field.click();
  await expect(page.getByRole("option")).toHaveCount(2);
  await expect(page.getByRole("option", { name: "journey-ssd Title of journey-ssd" })).toBeVisible();
  await show(page, "choices-list");

  // With the keyboard: search, choose.
  await field.fill("of journey-ss");
  await expect(page.getByRole("option")).toHaveCount(1);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(field).toHaveValue("journey-ssd");
  const copies = page.getByRole("combobox", { name: "Copies" });
  await tabTo(page, copies);
  await page.keyboard.type("nvme");
  await expect(page.getByRole("option", { name: "journey-nvme" })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("elsewhere");
  await page.keyboard.press("Enter");
  await field.fill("my-own");
  await page.keyboard.press("Escape");
  await expect(page.getByText("my-own").first()).toBeVisible();
  await expect(page.getByText("elsewhere").first()).toBeVisible();
  await show(page, "choices-own");
});

test("a field whose objects are never listed is a text field that says so", async ({ page }) => {
  await page.goto("/create/default/choices-hidden");
  const field = page.getByRole("combobox", { name: "Key" });
  await field.click();
  await expect(page.getByText("You may not list these objects in the cluster. Enter a value.")).toBeVisible();
  await field.fill("own");
  await expect(field).toHaveValue("own");
  await show(page, "choices-forbidden");
});
