import { useMemo, useState } from "react";
import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { DataTable, type Column } from "../../components/DataTable";
import { IconText } from "../../components/IconText";
import { texts } from "../../text";
import type { Graph, Node } from "./gather";
import { kindOf } from "./kindOf";
import { Mark } from "./Mark";

const words = texts.entity.graph;

const step = 100;
// few is the number of neighbors listed in a row.
const few = 4;

// List shows the graph as a table, also for screen readers.
export function List({ graph, onOpen }: { graph: Graph; onOpen: (ref: string) => void }) {
  const [shown, setShown] = useState(step);
  const { needs, needed } = useMemo(() => neighborsOf(graph), [graph]);
  const titles = useMemo(() => new Map(graph.nodes.map((n) => [n.ref, n.title])), [graph.nodes]);
  const columns: Column<Node>[] = [
    { title: words.entity, cell: (n) => <Name node={n} />, priority: "key" },
    { title: words.kind, cell: kindOf, width: "narrow" },
    { title: words.readiness, cell: (n) => n.readiness && <Readiness node={n} />, width: "narrow" },
    { title: words.dependsOn, cell: (n) => named(needs.get(n.ref) ?? [], titles), priority: "low" },
    {
      title: words.dependencyOf,
      priority: "low",
      cell: (n) => (
        <>
          {named(needed.get(n.ref) ?? [], titles)}
          {n.more > 0 && (
            <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={() => onOpen(n.ref)} aria-label={words.showMoreOf(n.more, n.title)}>
              {words.showMore(n.more)}
            </Button>
          )}
        </>
      ),
    },
  ];
  return (
    <Stack gap="sm" align="stretch">
      <DataTable label={words.list} columns={columns} rows={graph.nodes.slice(0, shown)} keyOf={(n) => n.ref} />
      {graph.nodes.length > shown && (
        <Button size="xs" variant="default" style={{ alignSelf: "flex-start" }} onClick={() => setShown(shown + step)}>
          {words.showMoreRows(Math.min(step, graph.nodes.length - shown), graph.nodes.length)}
        </Button>
      )}
    </Stack>
  );
}

function neighborsOf({ edges }: Graph): { needs: Map<string, string[]>; needed: Map<string, string[]> } {
  const [needs, needed] = [new Map<string, string[]>(), new Map<string, string[]>()];
  const add = (map: Map<string, string[]>, key: string, value: string) => {
    const all = map.get(key);
    if (all) {
      all.push(value);
    } else {
      map.set(key, [value]);
    }
  };
  for (const { from, to } of edges) {
    add(needs, to, from);
    add(needed, from, to);
  }
  return { needs, needed };
}

function Name({ node }: { node: Node }) {
  const shown = node.icon ? <IconText icon={node.icon}>{node.title}</IconText> : node.title;
  if (node.missing) {
    return (
      <>
        {shown}{" "}
        <Text component="span" size="xs" c="dimmed">
          {texts.entity.notInCatalog}
        </Text>
      </>
    );
  }
  return node.to === undefined ? (
    shown
  ) : (
    <Anchor component={Link} to={node.to.replace(/\?tab=graph$/, "")} inherit>
      {shown}
    </Anchor>
  );
}

function Readiness({ node }: { node: Node }) {
  return (
    <Group gap={8} wrap="nowrap">
      {node.readiness && <Mark readiness={node.readiness} />} {node.state ?? node.readiness}
    </Group>
  );
}

function named(refs: string[], titles: Map<string, string>): string {
  const names = refs.slice(0, few).map((ref) => titles.get(ref) ?? ref);
  return words.names(names, Math.max(0, refs.length - few));
}
