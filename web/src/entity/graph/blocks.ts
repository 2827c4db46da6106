import type { Block, Plan } from "./arrange";
import { few, gap, head, size } from "./sizes";

type PlanNode = Plan["nodes"][number];

// Hanging are nodes whose only neighbor is the same node.
type Hanging = { at: string; after: boolean; nodes: PlanNode[] };

// blocksOf puts nodes whose only neighbor is the same node into blocks, one for each group, if there are many.
export function blocksOf(plan: Plan): Block[] {
  const large = hangingOf(plan)
    .filter(({ nodes }) => nodes.length > few)
    .flatMap(({ at, after, nodes }) => [...byGroup(nodes)].map(([group, members]) => ({ at, after, group, nodes: members })))
    // A block of one node is that node.
    .filter(({ nodes }) => nodes.length > 1);
  return large.map(({ at, after, group, nodes }): Block => {
    nodes.sort((a, b) => a.title.localeCompare(b.title, "en", { numeric: true }));
    const columns = columnsFor(nodes.length, large.length);
    const rows = Math.ceil(nodes.length / columns);
    return {
      id: [after ? "after" : "before", group, at].filter(Boolean).join(" "),
      at,
      after,
      x: 0,
      y: 0,
      width: columns * (size.width + gap) + gap,
      height: head + rows * (size.height + gap),
      refs: nodes.map((n) => n.ref),
    };
  });
}

function byGroup(nodes: PlanNode[]): Map<string, PlanNode[]> {
  const found = new Map<string, PlanNode[]>();
  for (const node of nodes) {
    push(found, node.group ?? "", node);
  }
  return found;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V) {
  const all = map.get(key);
  if (all) {
    all.push(value);
  } else {
    map.set(key, [value]);
  }
}

// hangingOf returns the nodes with one neighbor, by neighbor and side.
function hangingOf(plan: Plan): Hanging[] {
  const beside = new Map<string, { ref: string; after: boolean }[]>();
  for (const { from, to } of plan.edges) {
    push(beside, from, { ref: to, after: true });
    push(beside, to, { ref: from, after: false });
  }
  const found = new Map<string, Hanging>();
  for (const node of plan.nodes) {
    const [only, ...others] = beside.get(node.ref) ?? [];
    if (!only || others.length > 0 || node.ref === plan.root) {
      continue;
    }
    // The nodes are after their neighbor exactly if the neighbor is before them.
    const key = `${only.after ? "before" : "after"} ${only.ref}`;
    const same = found.get(key) ?? { at: only.ref, after: !only.after, nodes: [] };
    same.nodes.push(node);
    found.set(key, same);
  }
  return [...found.values()];
}

// columnsFor chooses the columns so that all blocks stacked have an aspect ratio of about 3:2. With many blocks each is
// flat, so that their neighbors are close together.
export function columnsFor(count: number, blocks = 1): number {
  const columns = Math.round(Math.sqrt((count * 1.5 * blocks * (size.height + gap)) / (size.width + gap)));
  return Math.min(count, Math.max(1, columns));
}
