import { describe, expect, it } from "vitest";
import type { EntityPart } from "../../api/types";
import { gather, type Fetch, type GraphOptions } from "./gather";

type Relation = [type: string, target: string];

function entity(ref: string, type: string, relations: Relation[], notes: Record<string, string> = {}, readiness?: string): [string, EntityPart] {
  const [kind, rest] = ref.split(":") as [string, string];
  const [namespace, name] = rest.split("/") as [string, string];
  const kinds: Record<string, string> = { api: "API", resource: "Resource", template: "Template", component: "Component", group: "Group" };
  return [
    ref,
    {
      kind: kinds[kind],
      metadata: { namespace, name, annotations: notes },
      spec: { type, readiness },
      relations: relations.map(([t, targetRef]) => ({ type: t, targetRef })),
    } as unknown as EntityPart,
  ];
}

const definition = "resource:default/buckets-xrd";
const composition = "resource:default/fast-composition";
const api = "api:default/buckets-api";
const ofDefinition = { "composer.io/xrd-name": "buckets" };

function bucket(n: number) {
  return `resource:default/bucket-${n}`;
}

// world returns a definition with a composition, an API, a number of resources and a common owner.
function world(buckets: number): Map<string, EntityPart> {
  const owner: Relation = ["ownedBy", "group:default/team"];
  const all = Array.from({ length: buckets }, (_, i) => bucket(i));
  return new Map([
    entity(definition, "composer-xrd", [["dependsOn", api], ["dependencyOf", composition], owner], ofDefinition),
    entity(composition, "composer-composition", [["dependsOn", definition], ["dependsOn", api], ...all.map((ref): Relation => ["dependencyOf", ref]), owner], ofDefinition),
    entity(api, "openapi", [["dependencyOf", definition], ["dependencyOf", composition], owner], ofDefinition),
    entity("template:default/bucket", "infrastructure", [owner], ofDefinition),
    ...all.map((ref, i) => entity(ref, "composer-xr", [["dependsOn", composition], owner], ofDefinition, i % 2 === 0 ? "ready" : "not ready")),
  ]);
}

function fetchFrom(entities: Map<string, EntityPart>): Fetch {
  return (refs) => Promise.resolve(refs.map((ref) => entities.get(ref)));
}

const options: GraphOptions = { roots: [definition], open: [], family: undefined, owners: false, depth: 4, most: 2000 };

const names = (g: { nodes: { ref: string }[] }) => g.nodes.map((n) => n.ref).sort();
const arrows = (g: { edges: { from: string; to: string }[] }) => g.edges.map((e) => `${e.from} > ${e.to}`).sort();

describe("gather", () => {
  it("walks from the definition to compositions and resources, with its API and Templates", async () => {
    const graph = await gather(fetchFrom(world(2)), { ...options, family: { definition, refs: ["template:default/bucket"] } });
    expect(names(graph)).toEqual([api, bucket(0), bucket(1), definition, composition, "template:default/bucket"].sort());
    expect(arrows(graph)).toEqual(
      [
        `${definition} > ${composition}`,
        `${definition} > ${api}`,
        `${definition} > template:default/bucket`,
        `${composition} > ${bucket(0)}`,
        `${composition} > ${bucket(1)}`,
      ].sort(),
    );
    expect(graph.nodes.find((n) => n.ref === bucket(0))?.readiness).toBe("ready");
    expect(graph.nodes.find((n) => n.ref === bucket(1))?.readiness).toBe("not ready");
  });

  it("names a definition after its form, unless it has several", async () => {
    const entities = world(1);
    const form = (name: string) => entity(`template:default/${name}`, "service", [], ofDefinition);
    const title = async (...refs: string[]) => {
      refs.forEach((name) => entities.set(...form(name)));
      const graph = await gather(fetchFrom(entities), { ...options, family: { definition, refs: refs.map((name) => `template:default/${name}`) } });
      return graph.nodes.find((n) => n.ref === definition)?.title;
    };
    expect(await title("bucket")).toBe("bucket");
    expect(await title("bucket-v1", "bucket-v2")).toBe("buckets-xrd");
  });

  it("tells ownership from dependency", async () => {
    const graph = await gather(fetchFrom(world(1)), { ...options, owners: true });
    const belonging = graph.edges.filter((e) => e.belongs).map((e) => e.from);
    expect([...new Set(belonging)]).toEqual(["group:default/team"]);
  });

  it("shows the API of a definition once, in either relation", async () => {
    const entities = world(1);
    entities.set(...entity(definition, "crossplane-xrd", [["providesApi", api], ["dependencyOf", composition]], ofDefinition));
    entities.set(...entity(composition, "crossplane-composition", [["dependsOn", definition], ["providesApi", api]], ofDefinition));
    entities.set(...entity(api, "openapi", [["apiProvidedBy", definition], ["apiProvidedBy", composition]], ofDefinition));
    expect(arrows(await gather(fetchFrom(entities), options))).toEqual([`${definition} > ${api}`, `${definition} > ${composition}`].sort());
  });

  it("does not change direction: siblings of a resource are counted and shown only on request", async () => {
    const entities = world(5);
    const graph = await gather(fetchFrom(entities), { ...options, roots: [bucket(0)] });
    expect(names(graph)).toEqual([bucket(0), definition, composition].sort());
    expect(graph.nodes.find((n) => n.ref === composition)?.more).toBe(4);
    const more = await gather(fetchFrom(entities), { ...options, roots: [bucket(0)], open: [composition] });
    expect(names(more)).toHaveLength(7);
  });

  it("shows owners of the roots only on request, does not walk on from them, and marks missing ones", async () => {
    const graph = await gather(fetchFrom(world(1)), { ...options, owners: true });
    expect(graph.nodes.find((n) => n.ref === "group:default/team")).toMatchObject({ missing: true, title: "team" });
    expect(arrows(graph).filter((a) => a.startsWith("group:"))).toEqual([`group:default/team > ${definition}`]);
    expect((await gather(fetchFrom(world(1)), options)).nodes.some((n) => n.ref.startsWith("group:"))).toBe(false);
  });

  it("is limited and reports it", async () => {
    const graph = await gather(fetchFrom(world(300)), { ...options, most: 100 });
    expect(graph.nodes).toHaveLength(100);
    expect(graph.full).toBe(true);
    expect((await gather(fetchFrom(world(10)), { ...options, most: 100 })).full).toBe(false);
  });

  it("stops at the depth limit and at cycles", async () => {
    const ring = new Map(
      Array.from({ length: 6 }, (_, i) => entity(`component:default/c${i}`, "service", [["dependsOn", `component:default/c${(i + 1) % 6}`], ["dependencyOf", `component:default/c${(i + 5) % 6}`]])),
    );
    expect((await gather(fetchFrom(ring), { ...options, roots: ["component:default/c0"], depth: 1 })).nodes).toHaveLength(3);
    expect((await gather(fetchFrom(ring), { ...options, roots: ["component:default/c0"], depth: 50 })).nodes).toHaveLength(6);
  });
});
