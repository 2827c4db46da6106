import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { ActionIcon, Group, useComputedColorScheme } from "@mantine/core";
import { ReactFlow, ReactFlowProvider, useReactFlow, type Edge as FlowEdge } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { Failed, Loading } from "../../parts/State";
import { Icon, type IconName } from "../../parts/Icon";
import type { Arranged } from "./arrange";
import { Boxes, Doing, type BlockNode, type EntityNode } from "./Boxes";
import type { Graph } from "./gather";
import { directions, nearest } from "./keys";
import { size } from "./sizes";
import { useLayout } from "./useLayout";
import styles from "./Graph.module.css";

type Props = { graph: Graph; root: string; onOpen: (ref: string) => void };

// Canvas draws a graph: to be moved, zoomed, and walked with the arrows.
export function Canvas({ graph, root, onOpen }: Props) {
  const { arranged, error } = useLayout(graph, root);
  if (error) {
    return <Failed error={error} title="The graph cannot be drawn; the list has the same" />;
  }
  if (!arranged) {
    return <Loading label="Arranging the graph" lines={8} />;
  }
  return (
    <ReactFlowProvider>
      <Drawing graph={graph} root={root} onOpen={onOpen} arranged={arranged} />
    </ReactFlowProvider>
  );
}

// large is from how many nodes on the first view is around the root, and not of everything.
const large = 80;

function Drawing({ graph, root, onOpen, arranged }: Props & { arranged: Arranged }) {
  const flow = useReactFlow();
  const scheme = useComputedColorScheme("light");
  const [active, setActive] = useState(root);
  const wanted = useRef<string>(undefined);
  const holder = useRef<HTMLDivElement>(null);

  const nodes = useMemo(() => nodesOf(graph, arranged, root), [graph, arranged, root]);
  const edges = useMemo(
    () => arranged.edges.map((e): FlowEdge => ({ id: `${e.from} ${e.to}`, source: e.from, target: e.to, type: "default", focusable: false, className: styles.edge ?? "" })),
    [arranged],
  );

  const show = useCallback(
    (ref: string, zoom?: number) => {
      const at = arranged.places[ref];
      if (at) {
        void flow.setCenter(at.x + size.width / 2, at.y + size.height / 2, { zoom: zoom ?? Math.max(flow.getZoom(), 0.6) });
      }
    },
    [arranged, flow],
  );
  const first = useRef(true);
  const begin = useCallback(() => {
    if (!first.current) {
      return;
    }
    first.current = false;
    if (graph.nodes.length > large && arranged.places[root]) {
      show(root, 0.8);
    } else {
      void flow.fitView({ maxZoom: 1, padding: 0.1 });
    }
  }, [graph.nodes.length, arranged, root, show, flow]);

  const press = (e: KeyboardEvent) => {
    const direction = directions[e.key];
    if (direction) {
      e.preventDefault();
      const next = nearest(arranged.places, active, direction);
      if (next !== undefined) {
        go(next);
      }
    } else if (e.key === "Home") {
      e.preventDefault();
      go(root);
    } else if (e.key === "+") {
      e.preventDefault();
      onOpen(active);
    }
  };
  // The node may have to be brought into the picture before it can have the focus.
  const go = (ref: string) => {
    wanted.current = ref;
    setActive(ref);
    const at = arranged.places[ref];
    const box = holder.current?.getBoundingClientRect();
    if (!at || !box) {
      return;
    }
    const { x, y, zoom } = flow.getViewport();
    const [left, top] = [at.x * zoom + x, at.y * zoom + y];
    if (zoom < 0.4 || left < 0 || top < 0 || left + size.width * zoom > box.width || top + size.height * zoom > box.height) {
      show(ref);
    }
  };
  useEffect(() => {
    if (!arranged.places[active]) {
      setActive(arranged.places[root] ? root : (Object.keys(arranged.places)[0] ?? root));
    }
  }, [arranged, active, root]);

  return (
    <div ref={holder} className={styles.canvas} role="group" aria-label="Graph of relations; the list has the same" onKeyDown={press} data-scheme={scheme}>
      <Doing.Provider value={{ active, wanted, setActive, onOpen }}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={Boxes}
          onInit={begin}
          minZoom={0.03}
          maxZoom={2}
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          zoomOnDoubleClick={false}
          colorMode={scheme}
          proOptions={{ hideAttribution: true }}
        />
      </Doing.Provider>
      <Controls onFit={() => void flow.fitView({ maxZoom: 1, padding: 0.05 })} onZoom={(by) => void flow.zoomTo(flow.getZoom() * by)} onHome={() => show(root, 1)} />
    </div>
  );
}

function Controls({ onFit, onZoom, onHome }: { onFit: () => void; onZoom: (by: number) => void; onHome: () => void }) {
  const buttons: [string, IconName, () => void][] = [
    ["Zoom in", "plus", () => onZoom(1.4)],
    ["Zoom out", "minus", () => onZoom(1 / 1.4)],
    ["Show all", "fit", onFit],
    ["Back to where it began", "refresh", onHome],
  ];
  return (
    <Group gap={4} className={styles.controls} role="toolbar" aria-label="View">
      {buttons.map(([label, icon, act]) => (
        <ActionIcon key={label} variant="default" size="lg" aria-label={label} title={label} onClick={act}>
          <Icon name={icon} size={16} />
        </ActionIcon>
      ))}
    </Group>
  );
}

function nodesOf(graph: Graph, arranged: Arranged, root: string): (EntityNode | BlockNode)[] {
  const known = new Map(graph.nodes.map((n) => [n.ref, n]));
  const blocks = arranged.blocks.map((b): BlockNode => {
    const inside = b.refs.flatMap((ref) => known.get(ref) ?? []);
    const count = (readiness: string) => inside.filter((n) => n.readiness === readiness).length;
    const parts = (["ready", "not ready", "unknown"] as const).map((r) => [count(r), r] as const).filter(([n]) => n > 0);
    const what = inside.every((n) => n.made === "resource") ? "resources" : "entities";
    const title = `${inside.length.toLocaleString("en")} ${what}${parts.length > 0 ? `: ${parts.map(([n, r]) => `${n.toLocaleString("en")} ${r}`).join(", ")}` : ""}`;
    return { id: b.id, type: "block", position: { x: b.x, y: b.y }, width: b.width, height: b.height, zIndex: -1, data: { title } };
  });
  const inBlock = new Set(arranged.blocks.flatMap((b) => b.refs));
  const entities = graph.nodes.flatMap((n): EntityNode[] => {
    const at = arranged.places[n.ref];
    return at ? [{ id: n.ref, type: "entity", position: at, ...size, data: { node: n, root: n.ref === root, inBlock: inBlock.has(n.ref) } }] : [];
  });
  return [...blocks, ...entities];
}
