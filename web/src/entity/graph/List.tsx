import { useMemo, useState } from "react";
import { Button, Group, Text } from "@mantine/core";
import { RefLink } from "../../components/RefLink";
import type { Graph, Node } from "./gather";
import { Mark } from "./Mark";
import tables from "../Entity.module.css";
import styles from "./Graph.module.css";

const step = 100;
// few is the number of neighbors listed in a row.
const few = 4;

// List shows the graph as a table, also for screen readers.
export function List({ graph, onOpen }: { graph: Graph; onOpen: (ref: string) => void }) {
  const [shown, setShown] = useState(step);
  const beside = useMemo(() => {
    const needs = new Map<string, string[]>();
    const needed = new Map<string, string[]>();
    for (const { from, to } of graph.edges) {
      needs.set(to, [...(needs.get(to) ?? []), from]);
      const after = needed.get(from);
      if (after) {
        after.push(to);
      } else {
        needed.set(from, [to]);
      }
    }
    return { needs, needed };
  }, [graph.edges]);
  const titles = useMemo(() => new Map(graph.nodes.map((n) => [n.ref, n.title])), [graph.nodes]);
  return (
    <div className={tables.scroll} tabIndex={0} role="region" aria-label="Entities in the graph">
      <table className={`${tables.table} ${styles.list}`}>
        <thead>
          <tr>
            <th scope="col">Entity</th>
            <th scope="col">Kind</th>
            <th scope="col">Readiness</th>
            <th scope="col">Depends on</th>
            <th scope="col">Dependency of</th>
          </tr>
        </thead>
        <tbody>
          {graph.nodes.slice(0, shown).map((n) => (
            <tr key={n.ref}>
              <th scope="row">{n.missing ? `${n.title} (not in the catalog)` : <RefLink to={n.ref}>{n.title}</RefLink>}</th>
              <td>{kindOf(n)}</td>
              <td>
                {n.readiness && (
                  <Group gap={6} wrap="nowrap">
                    <Mark readiness={n.readiness} /> {n.readiness}
                  </Group>
                )}
              </td>
              <td>
                <Names refs={beside.needs.get(n.ref) ?? []} titles={titles} />
              </td>
              <td>
                <Names refs={beside.needed.get(n.ref) ?? []} titles={titles} />
                {n.more > 0 && (
                  <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={() => onOpen(n.ref)} aria-label={`Show ${n.more} more related to ${n.title}`}>
                    {`Show ${n.more} more`}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {graph.nodes.length > shown && (
        <Button mt="sm" size="xs" variant="default" onClick={() => setShown(shown + step)}>
          {`Show ${Math.min(step, graph.nodes.length - shown)} more of ${graph.nodes.length}`}
        </Button>
      )}
    </div>
  );
}

// kindOf returns the role of a node, or its kind.
export function kindOf(node: Node): string {
  return node.role ?? node.kind;
}

function Names({ refs, titles }: { refs: string[]; titles: Map<string, string> }) {
  const named = refs.slice(0, few).map((ref) => titles.get(ref) ?? ref);
  return (
    <Text size="sm" component="span">
      {named.join(", ")}
      {refs.length > few ? ` and ${refs.length - few} more` : ""}
    </Text>
  );
}
