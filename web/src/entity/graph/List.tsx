import { Fragment, useMemo, useState } from "react";
import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { readinessTitle } from "../../api/readiness";
import { DataTable, type Column } from "../../components/DataTable";
import { IconText } from "../../components/IconText";
import { texts } from "../../text";
import type { Edge, Graph, Node } from "./gather";
import { kindTitle } from "./kindOf";
import { Mark } from "./Mark";

const words = texts.entity.graph;

const step = 100;
// few is the number of neighbors listed in a row.
const few = 4;

// List shows the graph as a table, also for screen readers.
export function List({ graph, onOpen }: { graph: Graph; onOpen: (ref: string) => void }) {
  const [shown, setShown] = useState(step);
  const known = useMemo(() => new Map(graph.nodes.map((n) => [n.ref, n])), [graph.nodes]);
  const [belonging, depending] = useMemo(() => [graph.edges.filter((e) => e.belongs), graph.edges.filter((e) => !e.belongs)], [graph.edges]);
  const columns: Column<Node>[] = [
    { title: words.entity, cell: (n) => <Name node={n} icon />, priority: "key" },
    { title: words.kind, cell: kindTitle, width: "narrow" },
    ...(graph.nodes.some((n) => n.readiness) ? [{ title: words.readiness, cell: (n: Node) => n.readiness && <Readiness node={n} />, width: "narrow" as const }] : []),
    ...(depending.length > 0 ? columnsFor(depending, known, words.dependsOn, words.dependencyOf) : []),
    ...(belonging.length > 0 ? columnsFor(belonging, known, words.belongsTo, words.contains) : []),
  ];
  if (graph.nodes.some((n) => n.more > 0)) {
    columns.push({ title: words.more, silent: true, width: "narrow", priority: "low", cell: (n) => n.more > 0 && <More node={n} onOpen={onOpen} /> });
  }
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

function More({ node, onOpen }: { node: Node; onOpen: (ref: string) => void }) {
  return (
    <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={() => onOpen(node.ref)} aria-label={words.showMoreOf(node.more, node.title)}>
      {words.showMore(node.more)}
    </Button>
  );
}

// columnsFor returns the columns of both ends of edges.
function columnsFor(edges: Edge[], known: Map<string, Node>, from: string, to: string): Column<Node>[] {
  const [before, after] = [new Map<string, Node[]>(), new Map<string, Node[]>()];
  const add = (map: Map<string, Node[]>, key: string, ref: string) => {
    const node = known.get(ref);
    const nodes = map.get(key);
    if (node && nodes) {
      nodes.push(node);
    } else if (node) {
      map.set(key, [node]);
    }
  };
  for (const edge of edges) {
    add(before, edge.to, edge.from);
    add(after, edge.from, edge.to);
  }
  return [
    { title: from, priority: "low", cell: (n) => <Names nodes={before.get(n.ref)} /> },
    { title: to, priority: "low", cell: (n) => <Names nodes={after.get(n.ref)} /> },
  ];
}

// Names lists the first neighbors of a node.
function Names({ nodes = [] }: { nodes?: Node[] }) {
  return (
    <>
      {nodes.slice(0, few).map((node, i) => (
        <Fragment key={node.ref}>
          {i > 0 && ", "}
          <Name node={node} />
        </Fragment>
      ))}
      {nodes.length > few && words.moreNames(nodes.length - few)}
    </>
  );
}

function Name({ node, icon = false }: { node: Node; icon?: boolean }) {
  const shown = icon && node.icon ? <IconText icon={node.icon}>{node.title}</IconText> : node.title;
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
    <Anchor component={Link} to={node.to.replace(/\?tab=graph$/, "")} inherit display="inline-block" lh="24px">
      {shown}
    </Anchor>
  );
}

function Readiness({ node }: { node: Node }) {
  return (
    <Group gap={8} wrap="nowrap">
      {node.readiness && <Mark readiness={node.readiness} />} {node.state ?? (node.readiness && readinessTitle(node.readiness))}
    </Group>
  );
}
