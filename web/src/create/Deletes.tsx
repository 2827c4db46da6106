import { List, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { fetchJson, path } from "../api/client";
import { refOf } from "../api/entity";
import type { Entity, EntityPage, EntityPart, Schemas } from "../api/types";
import { Notice } from "../components/Notice";
import { objectOf } from "../entity/facts";
import { texts } from "../text";
import { isObject, type Values } from "./form/types";

const words = texts.create.review;

// most is the number of composed objects that are listed.
const most = 8;

// The annotation prefixes that identify the object of an entity, in both vocabularies.
const prefixes = ["composer.vendor.io", "crossplane.terasky.io"];

const deletes = /^(cluster|kubernetes):delete$/;

// kindOf returns the kind that a Template deletes.
function kindOf(template: Entity | undefined): string {
  const steps = (template?.spec as Record<string, unknown> | undefined)?.["steps"];
  const step = (Array.isArray(steps) ? steps : []).find((s): s is { input: Record<string, unknown> } => isObject(s) && deletes.test(String(s["action"])) && isObject(s["input"]));
  return typeof step?.input["kind"] === "string" ? step.input["kind"] : "";
}

type Node = Schemas["ResourceNode"];

// Composed are the objects below the root of a tree, and the number of those that the tree leaves out.
type Composed = { objects: Node[]; more: number };

// composedOf returns the objects that exist below the root of a tree.
export function composedOf(tree: Node): Composed {
  const below = (tree.children ?? []).map((child) => ({ child, inner: composedOf(child) }));
  return {
    objects: below.flatMap(({ child, inner }) => (child.state === "missing" ? inner.objects : [child, ...inner.objects])),
    more: (tree.skipped ?? 0) + (tree.more ?? 0) + below.reduce((sum, { inner }) => sum + inner.more, 0),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// useComposed returns the status of the resource that a delete form names.
function useComposed(kind: string, values: Values) {
  const [name, namespace, cluster] = [textOf(values["name"]), textOf(values["namespace"]), textOf(values["cluster"] ?? values["deliveryCluster"])];
  return useQuery({
    queryKey: ["deletes", kind, name, namespace, cluster],
    queryFn: async ({ signal }) => {
      const { items } = await fetchJson<EntityPage>("/api/catalog/entities/by-query", {
        json: {
          limit: 50,
          fields: ["kind", "metadata.name", "metadata.namespace", "metadata.annotations", "spec.type"],
          query: { $any: prefixes.map((p) => ({ [`metadata.annotations.${p}/xr-name`]: { $in: [name] }, [`metadata.annotations.${p}/xr-kind`]: { $in: [kind] } })) },
        },
        signal,
      });
      const entity = items.find((e: EntityPart) => (objectOf(e)?.namespace ?? "") === namespace && (cluster === "" || objectOf(e)?.cluster === cluster));
      if (!entity) {
        return null;
      }
      const ref = refOf(entity);
      return fetchJson<Schemas["ResourceStatus"]>(`${path("/api/resources/by-name", ref.kind, ref.namespace, ref.name)}/status`, { signal });
    },
    enabled: kind !== "" && name !== "",
    retry: false,
    staleTime: 30_000,
  });
}

// Deletes says what is deleted together with a resource.
export function Deletes({ template, values }: { template: Entity | undefined; values: Values }) {
  const kind = kindOf(template);
  // A name may still be being typed.
  const [settled] = useDebouncedValue(values, 400);
  const { data: status } = useComposed(kind, settled);
  const name = textOf(values["name"]);
  if (kind === "" || name === "" || values["propagation"] === "orphan") {
    return null;
  }
  const { objects, more } = status ? composedOf(status.tree) : { objects: [], more: 0 };
  const total = objects.length + more;
  return (
    <Notice tone="error" title={words.deletes(kind, name)} role="note">
      <Text size="sm">{status ? words.deletesWith(total, status.cluster) : words.deletesSome}</Text>
      {objects.length > 0 && (
        <List size="sm">
          {objects.slice(0, most).map((o, i) => (
            <List.Item key={i} style={{ overflowWrap: "anywhere" }}>{`${o.ref.kind} ${o.ref.name}`}</List.Item>
          ))}
          {total > most && <List.Item>{words.moreObjects(total - Math.min(objects.length, most))}</List.Item>}
        </List>
      )}
      <Text size="sm" mt={4}>
        {words.cannotUndo}
      </Text>
    </Notice>
  );
}
