import { catalogReady, control, expect, service, show, signIn, tabTo, test } from "./journey";

// The issuer uses a self-signed certificate.
test.use({ ignoreHTTPSErrors: true });

const path = "/catalog/default/component/payments?tab=workloads";

// A pod of the Deployment in the examples. No node runs it.
const pod = `apiVersion: v1
kind: ServiceAccount
metadata: { name: default, namespace: default }
---
apiVersion: v1
kind: Pod
metadata: { name: payments-7d4b9, namespace: default, labels: { app: payments, backstage.io/kubernetes-id: payments } }
spec:
  serviceAccountName: default
  containers:
    - { name: payments, image: "example.org/payments:1", env: [{ name: PASSWORD, value: a-secret-of-a-pod }] }
`;
const status = {
  phase: "Running",
  containerStatuses: [{ name: "payments", image: "x", imageID: "x", ready: false, restartCount: 7, state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container" } } }],
};

test.beforeAll(async () => {
  await catalogReady();
  await control("/cluster/apply", pod);
  const at = "/api/v1/namespaces/default/pods/payments-7d4b9";
  await control("/cluster/request", JSON.stringify({ status }), { method: "PATCH", path: `${at}/status` });
  const { uid } = (JSON.parse(await control("/cluster/request", "", { method: "GET", path: at })) as { metadata: { uid: string } }).metadata;
  await control(
    "/cluster/apply",
    `apiVersion: v1
kind: Event
metadata: { name: payments-7d4b9.1, namespace: default }
involvedObject: { kind: Pod, namespace: default, name: payments-7d4b9, uid: ${uid} }
type: Warning
reason: BackOff
message: Back-off restarting failed container
count: 12
`,
  );
  await expect.poll(async () => (await (await service("/api/catalog/entities?filter=kind=component,metadata.name=payments")).text()).includes("payments"), { timeout: 60_000 }).toBe(true);
});

test("a developer sees why a pod does not run", async ({ page, pageErrors }) => {
  let answer = "";
  page.on("response", async (r) => {
    if (r.url().includes("/workloads/query")) {
      answer += await r.text().catch(() => "");
    }
  });
  await page.goto(path);
  const pods = page.getByRole("region", { name: "Pods" });
  await expect(pods.getByText("CrashLoopBackOff")).toBeVisible();
  await expect(pods.getByRole("cell", { name: "7", exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Workloads" }).getByText("Deployment")).toBeVisible();
  await show(page, "entity-workloads");
  expect(answer).toContain("payments-7d4b9");
  expect(answer).not.toContain("a-secret-of-a-pod");

  await tabTo(page, page.getByRole("button", { name: "Events of pod payments-7d4b9" }));
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog");
  await expect(panel.getByText("Back-off restarting failed container")).toBeVisible();
  await expect(panel.getByText(/12 times/)).toBeVisible();
  await show(page, "entity-workload-events");
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();

  await page.getByRole("button", { name: "Logs of pod payments-7d4b9" }).click();
  await expect(panel.getByText(/Missing permission kubernetes.logs.read/)).toBeVisible();
  await page.keyboard.press("Escape");
  await signIn(page);
  await page.getByRole("button", { name: "Logs of pod payments-7d4b9" }).click();
  // No node runs the pod.
  await expect(panel.getByRole("region", { name: "Log of container payments" })).toHaveText("The log is empty.");
  await show(page, "entity-workload-log");
  pageErrors.splice(0, pageErrors.length, ...pageErrors.filter((m) => !m.includes("403")));
});

test("the tables fit a small screen", async ({ page, pageErrors }) => {
  await page.setViewportSize({ width: 375, height: 740 });
  await page.goto(path);
  await expect(page.getByRole("region", { name: "Pods" }).getByText("CrashLoopBackOff")).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
  await show(page, "entity-workloads-small");
  expect(pageErrors).toEqual([]);
});
