import { useMemo, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { Button, Group, SegmentedControl, Stack, Switch, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useSearchParams } from "react-router";
import { fetchJson } from "../../api/client";
import { annotations } from "../../api/entity";
import type { Entity, EntityPart } from "../../api/types";
import { ErrorAlert, Loading } from "../../components/State";
import { roleOf } from "../facts";
import { annotationFields, definitionOf, useDefinitionEntities } from "../queries";
import { Notice } from "../../components/Notice";
import { number, texts } from "../../text";
import { Canvas } from "./Canvas";
import { collapse } from "./collapse";
import { gather, keyOf, type Fetch, type Graph, type GraphOptions } from "./gather";
import { Legend } from "./Legend";
import { List } from "./List";

const words = texts.entity.graph;

// most is the maximum number of entities in a graph.
export const most = 2_000;

const fields = [
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.title",
  "metadata.tags",
  "spec.profile.displayName",
  "spec.type",
  "spec.readiness",
  "relations",
  ...[annotations.xrdName, annotations.stale, annotations.purpose].flatMap(annotationFields),
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
  // A narrow screen has no room for a graph.
  const first = useMediaQuery("(max-width: 600px)", false, { getInitialValueInEffect: false }) ? "list" : "graph";
  const view = params.get("view") ?? first;
  const listed = view === "list";
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
  const graph = useMemo(() => query.data && (whole ? collapse(query.data, { ref: root, kind: entity.kind.toLowerCase(), name: entity.metadata.name }, open) : query.data), [query.data, whole, root, entity, open]);
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
          onChange={(v) => set("view", v === first ? null : v)}
          data={[
            { value: "graph", label: words.graph },
            { value: "list", label: words.listView },
          ]}
          aria-label={words.view}
        />
        {query.data && <Summary graph={query.data} deeper={whole ? undefined : () => setDepth(depth + 4)} depth={depth} />}
        {!whole && <Switch ml="auto" label={words.owners} checked={owners} onChange={(e) => set("owners", e.currentTarget.checked ? "1" : null)} />}
      </Group>
      {query.isError && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && !query.isError && <Loading label={words.loading} />}
      {graph && (
        <>
          {graph.full && <Full />}
          {listed ? (
            <List graph={graph} onOpen={(ref) => setOpen([...open, ref])} />
          ) : (
            <Canvas graph={graph} root={root} grouped={whole} onOpen={(ref) => setOpen((all) => (all.includes(ref) ? all : [...all, ref]))} />
          )}
          <Legend drawn={!listed} hint={whole ? words.helpWhole : words.help} />
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
  return (
    <Group gap="sm">
      <Text size="sm" role="status">
        {words.summary(graph.nodes.length, ready, resources.length)}
      </Text>
      {deeper && depth < 12 && !graph.full && graph.nodes.some((n) => n.more > 0) && (
        <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={deeper}>
          {words.deeper}
        </Button>
      )}
    </Group>
  );
}

function Full() {
  return <Notice tone="warning">{words.full(number(most))}</Notice>;
}
