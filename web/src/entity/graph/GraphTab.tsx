import { useMemo, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { Button, Group, SegmentedControl, Stack, Switch, Text } from "@mantine/core";
import { useSearchParams } from "react-router";
import { fetchJson } from "../../api/client";
import type { Entity, EntityPart } from "../../api/types";
import { ErrorAlert, Loading } from "../../components/State";
import { roleOf } from "../facts";
import { annotationFields, definitionOf, useDefinitionEntities } from "../queries";
import { Notice } from "../../components/Notice";
import { Canvas } from "./Canvas";
import { gather, keyOf, type Fetch, type Graph, type GraphOptions } from "./gather";
import { Legend } from "./Legend";
import { List } from "./List";

// most is the maximum number of entities in a graph.
export const most = 2_000;

const fields = [
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.title",
  "spec.type",
  "spec.readiness",
  "relations",
  ...["composer.io/xrd-name", "portal.io/stale"].flatMap(annotationFields),
];

// batch is the number of entities per request.
const batch = 500;

function fetchWith(signal: AbortSignal): Fetch {
  return async (refs) => {
    const parts: string[][] = [];
    for (let i = 0; i < refs.length; i += batch) {
      parts.push(refs.slice(i, i + batch));
    }
    const answers = await Promise.all(
      parts.map((entityRefs) => fetchJson<{ items: (EntityPart | null)[] }>("/api/catalog/entities/by-refs", { json: { entityRefs, fields }, signal })),
    );
    return answers.flatMap((a) => a.items.map((item) => item ?? undefined));
  };
}

// wholes are kinds with very many relations: their graph shows what they own.
const wholes = ["group", "user", "system", "domain"];

// GraphTab shows the relations of an entity: the definition, its compositions and their resources.
export default function GraphTab({ entity }: { entity: Entity }) {
  const [params, setParams] = useSearchParams();
  const [open, setOpen] = useState<string[]>([]);
  const [depth, setDepth] = useState(4);
  const root = keyOf(entity);
  const whole = wholes.includes(entity.kind.toLowerCase());
  const owners = whole || params.get("owners") === "1";
  const listed = params.get("view") === "list";
  const family = useDefinitionEntities(definitionOf(entity));
  const relatives = useMemo(() => relativesOf(entity, family.data), [entity, family.data]);
  const options: GraphOptions = { roots: relatives && entity.kind !== "Resource" ? [relatives.definition] : [root], open, family: relatives, owners, depth: whole ? 1 : depth, most };
  const query = useQuery({
    queryKey: ["graph", root, options],
    queryFn: ({ signal }) => gather(fetchWith(signal), options),
    enabled: definitionOf(entity) === "" || !family.isPending,
    refetchInterval: (q) => ((q.state.data?.nodes.length ?? 0) > 300 ? 30_000 : 5_000),
    placeholderData: (before, previous) => (previous?.queryKey[1] === root ? before : undefined),
  });
  const set = (key: string, value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) {
          next.delete(key);
        } else {
          next.set(key, value);
        }
        return next;
      },
      { replace: true },
    );
  return (
    <Stack gap="sm">
      <Group gap="md">
        <SegmentedControl
          value={listed ? "list" : "graph"}
          onChange={(v) => set("view", v === "list" ? "list" : null)}
          data={[
            { value: "graph", label: "Graph" },
            { value: "list", label: "List" },
          ]}
          aria-label="Relations view"
        />
        {query.data && <Summary graph={query.data} deeper={whole ? undefined : () => setDepth(depth + 4)} depth={depth} />}
        {!whole && <Switch ml="auto" label="Show owner and system" checked={owners} onChange={(e) => set("owners", e.currentTarget.checked ? "1" : null)} />}
      </Group>
      {query.isError && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && !query.isError && <Loading label="Loading relations" />}
      {query.data && (
        <>
          {query.data.full && <Full />}
          {listed ? (
            <List graph={query.data} onOpen={(ref) => setOpen([...open, ref])} />
          ) : (
            <Canvas graph={query.data} root={root} onOpen={(ref) => setOpen((all) => (all.includes(ref) ? all : [...all, ref]))} />
          )}
          <Legend drawn={!listed} />
        </>
      )}
    </Stack>
  );
}

// relativesOf returns the definition of an entity and its Templates, which have no relation to it. Resources and
// compositions have none.
function relativesOf(entity: Entity, family: EntityPart[] | undefined): GraphOptions["family"] {
  const definition = family?.find((e) => roleOf(e) === "definition");
  if (!definition || roleOf(entity) === "resource" || roleOf(entity) === "composition") {
    return undefined;
  }
  return { definition: keyOf(definition), refs: (family ?? []).filter((e) => e.kind === "Template").map(keyOf) };
}

// Summary describes the graph in a sentence.
function Summary({ graph, deeper, depth }: { graph: Graph; deeper: (() => void) | undefined; depth: number }) {
  const resources = graph.nodes.filter((n) => n.readiness !== undefined);
  const ready = resources.filter((n) => n.readiness === "ready").length;
  const shown = `${graph.nodes.length.toLocaleString("en")} entities`;
  return (
    <Group gap="sm">
      <Text size="sm" role="status">
        {resources.length === 0 ? shown : `${shown}; ${ready.toLocaleString("en")} of ${resources.length.toLocaleString("en")} resources are ready`}
      </Text>
      {deeper && depth < 12 && !graph.full && graph.nodes.some((n) => n.more > 0) && (
        <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={deeper}>
          Show more levels
        </Button>
      )}
    </Group>
  );
}

function Full() {
  return (
    <Notice tone="warning">
      {`The graph is limited to ${most.toLocaleString("en")} entities. Open an entity to see its relations, or search the catalog.`}
    </Notice>
  );
}
