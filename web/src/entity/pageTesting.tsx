import { render } from "@testing-library/react";
import { vi } from "vitest";
import { Testbed } from "../app/Testbed";
import EntityPage from "./EntityPage";

// photos is a resource that is not ready.
export const photos = {
  apiVersion: "portal.io/v1alpha1",
  kind: "Resource",
  metadata: {
    name: "photos-1",
    namespace: "default",
    title: "<b>photos</b>",
    description: "<script>alert(1)</script>",
    annotations: {
      "composer.io/xrd-name": "buckets.example.org",
      "composer.io/xrd-version": "v1",
      "composer.io/condition-ready": ["False", "(Creating)"].join(" "),
      "composer.vendor.io/xr-name": "photos",
      "composer.vendor.io/xr-kind": "Bucket",
      "portal.io/cluster-namespace": "shop",
      "portal.io/discovered-from": "production",
    } as Record<string, string>,
    links: [{ url: "javascript:alert(1)", title: "Run" }, { url: "https://photos.example.org", title: "Open" }],
  },
  spec: { type: "composer-xr", owner: "team", system: "shop", readiness: "not ready" },
  relations: [
    { type: "dependsOn", targetRef: "resource:default/buckets-xrd" },
    { type: "ownedBy", targetRef: "group:default/team" },
  ],
};

const generated: unknown[] = [
  { kind: "Template", metadata: { name: "bucket", annotations: { "composer.io/xrd-version": "v1" } } },
  { kind: "Template", metadata: { name: "bucket-update", annotations: { "composer.io/xrd-version": "v1", "portal.io/template-purpose": "update" } } },
  { kind: "API", metadata: { name: "bucket-api" }, spec: { type: "openapi" } },
  { kind: "Resource", metadata: { name: "buckets-xrd" }, spec: { type: "composer-xrd" } },
];
const pictures = { kind: "Resource", metadata: { name: "pictures-1", title: "pictures" }, spec: { readiness: "ready" } };

const explanation = {
  name: "buckets.example.org",
  takenBy: "composerIngestor",
  copies: [{ source: "composerIngestor/production" }],
  compositions: 0,
  composites: 1,
  entities: ["template:default/bucket"],
  values: [{ field: "owner", value: "team", from: "annotation", key: "portal.io/owner" }],
  findings: [{ rule: "XRD050", severity: "warning", message: "no description", hint: "write one" }],
};

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:development/guest", ownershipEntityRefs: [] } };

// World is what the portal answers.
type World = {
  entity: unknown;
  // family are the entities of the definition.
  family: unknown[];
  allowed: boolean;
  conditions: unknown[] | undefined;
  status: { code: number; body: unknown } | undefined;
  // streamed is what the event stream sends, and parts are the bodies of object and history.
  streamed: string | undefined;
  parts: Record<string, unknown>;
};

// startWorld answers the requests of a page. The answers follow changes of the returned world.
export function startWorld(): World {
  const world: World = { entity: structuredClone(photos), family: generated, allowed: true, conditions: undefined, status: undefined, streamed: undefined, parts: {} };
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (url.startsWith("/api/auth/providers")) {
      return answer({ guest: true, oidc: false });
    }
    if (url.startsWith("/api/auth/guest/refresh")) {
      return answer({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    if (url.startsWith("/api/permission/authorize")) {
      const { items } = JSON.parse(String(init.body)) as { items: unknown[] };
      return answer({ items: items.map((_, i) => ({ id: String(i), result: world.allowed ? "ALLOW" : "DENY" })) });
    }
    if (url.startsWith("/api/catalog/entities/by-name")) {
      return world.entity ? answer(world.entity) : answer({ error: { name: "NotFoundError", message: "none" } }, 404);
    }
    if (url.startsWith("/api/catalog/entities/by-query")) {
      const asked = String(init.body);
      if (asked.includes('"metadata.name":"photos-1"')) {
        return answer({ items: [{ kind: "Component", metadata: { name: "photos-1", namespace: "shop" } }] });
      }
      return asked.includes("composer-xr\"") ? answer({ items: [pictures], totalItems: 12 }) : answer({ items: world.family, totalItems: world.family.length, pageInfo: {} });
    }
    if (url.startsWith("/api/catalog/entities/by-refs")) {
      const { entityRefs } = JSON.parse(String(init.body)) as { entityRefs: string[] };
      return answer({ items: entityRefs.map((ref) => (ref.startsWith("group:") ? null : { kind: "Resource" })) });
    }
    if (url.startsWith("/api/composer-ingestor/conditions/")) {
      return world.conditions ? answer({ items: world.conditions }) : answer({ error: { name: "NotFoundError", message: "none" } }, 404);
    }
    const part = /^\/api\/resources\/by-name\/.*\/(eventstream|object|history)$/.exec(url)?.[1];
    if (part) {
      const stream = part === "eventstream" && world.streamed !== undefined;
      return stream ? new Response(world.streamed, { headers: { "Content-Type": "text/event-stream" } }) : answer(world.parts[part] ?? { error: { name: "NotFoundError", message: "none" } }, world.parts[part] ? 200 : 404);
    }
    if (url.startsWith("/api/resources/by-name/")) {
      return world.status ? answer(world.status.body, world.status.code) : answer({ error: { name: "NotFoundError", message: "none" } }, 404);
    }
    if (url.startsWith("/api/composer-ingestor/explain/")) {
      return answer(explanation);
    }
    return answer({}, 404);
  });
  return world;
}

// openPage opens the page of the resource.
export function openPage(query = "") {
  return render(
    <Testbed path={`/catalog/default/resource/photos-1${query}`} route="/catalog/:namespace/:kind/:name">
      <EntityPage />
    </Testbed>,
  );
}

