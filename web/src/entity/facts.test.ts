import { describe, expect, it } from "vitest";
import type { EntityPart } from "../api/types";
import { conditionsOf, roleOf, objectOf, conditionTitle } from "./facts";

function resource(annotations: Record<string, string>, type = "composer-xr"): EntityPart {
  return { kind: "Resource", metadata: { name: "r", annotations }, spec: { type } } as unknown as EntityPart;
}

describe("conditionsOf", () => {
  it("reads both vocabularies, sorts Ready and Synced first, and ignores other annotations", () => {
    const e = resource({
      "composer.io/condition-last-async-operation": "Unknown (Waiting)",
      "composer.io/condition-synced": "True",
      "crossplane.io/condition-ready": "False (Creating)",
      "composer.io/condition-odd": "<b>True</b>",
      "composer.io/xrd-name": "True",
    });
    expect(conditionsOf(e)).toEqual([
      { type: "ready", state: "False", reason: "Creating" },
      { type: "synced", state: "True", reason: "" },
      { type: "last-async-operation", state: "Unknown", reason: "Waiting" },
    ]);
    expect(["last-async-operation", "LastAsyncOperation", "ready", "SSLReady"].map(conditionTitle)).toEqual(["Last async operation", "Last async operation", "Ready", "SSLReady"]);
  });
});

describe("objectOf", () => {
  it("returns the cluster object of a resource only", () => {
    const notes = {
      "crossplane.terasky.io/xr-name": "photos",
      "crossplane.terasky.io/xr-kind": "Bucket",
      "backstage.io/kubernetes-namespace": "shop",
      "backstage.io/discovered-from": "production",
    };
    expect(objectOf(resource(notes, "crossplane-xr"))).toEqual({ name: "photos", kind: "Bucket", namespace: "shop", cluster: "production", apiVersion: "" });
    expect(objectOf(resource(notes, "crossplane-xrd"))).toBeUndefined();
    expect(roleOf(resource({}, "crossplane-xrd"))).toBe("definition");
  });
});
