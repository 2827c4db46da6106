import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { ActionIcon, Group, useComputedColorScheme } from "@mantine/core";
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { ErrorAlert, Loading } from "../../components/State";
import { Icon, type IconName } from "../../components/Icon";
import { texts } from "../../text";
import type { Arranged } from "./arrange";
import { edgeTypes, nodeTypes, GraphContext } from "./Boxes";
import { edgesOf, nodesOf } from "./flow";
import type { Graph } from "./gather";
import { directions, step } from "./keys";
import { size } from "./sizes";
import { useLayout } from "./useLayout";
import styles from "./Graph.module.css";

const words = texts.entity.graph;

type Props = {
  graph: Graph;
  root: string;
  // grouped puts nodes of different kinds into different blocks.
  grouped?: boolean;
  // label names the graph for screen readers.
  label?: string;
  // onOpen shows more neighbors of a node; onChoose is called when a node without a page is clicked.
  onOpen: (ref: string) => void;
  onChoose?: (ref: string) => void;
};

// Canvas draws a graph that can be panned, zoomed and navigated with the arrow keys.
export function Canvas(props: Props) {
  const { graph, root, grouped } = props;
  const { arranged, error } = useLayout(graph, root, grouped);
  if (error) {
    return <ErrorAlert error={error} title={words.failed} />;
  }
  if (!arranged) {
    return <Loading label={words.arranging} lines={8} />;
  }
  return (
    <ReactFlowProvider>
      <Drawing {...props} arranged={arranged} />
    </ReactFlowProvider>
  );
}

// readable is the minimum zoom at which the first view shows the whole graph; below it, the view starts at the root.
const readable = 0.5;

// distant is the zoom below which nodes in blocks are drawn as marks.
const distant = 0.4;

const ignore = () => undefined;

function Drawing({ graph, root, label = words.label, onOpen, onChoose = ignore, arranged }: Props & { arranged: Arranged }) {
  const flow = useReactFlow();
  const away = useStore((state) => state.transform[2] < distant);
  const [leaving, setLeaving] = useState(false);
  const far = away || leaving;
  const scheme = useComputedColorScheme("light");
  const [active, setActive] = useState(root);
  const wanted = useRef<string>(undefined);
  const holder = useRef<HTMLDivElement>(null);

  const nodes = useMemo(() => nodesOf(graph, arranged, root, far), [graph, arranged, root, far]);
  const edges = useMemo(() => edgesOf(arranged, styles.edge ?? ""), [arranged]);

  const show = useCallback(
    (ref: string, zoom?: number) => {
      const at = arranged.points[ref];
      if (at) {
        void flow.setCenter(at.x + size.width / 2, at.y + size.height / 2, { zoom: zoom ?? Math.max(flow.getZoom(), 0.6) });
      }
    },
    [arranged, flow],
  );
  // fit zooms to the whole graph; it returns false if that is below the minimum zoom.
  const fit = useCallback(
    (least: number) => {
      const [width, height] = [holder.current?.clientWidth ?? 0, holder.current?.clientHeight ?? 0];
      const zoom = Math.min(1, width / arranged.width, height / arranged.height);
      const go = () => void flow.setCenter(arranged.width / 2, arranged.height / 2, { zoom });
      if (zoom < least) {
        return false;
      }
      if (zoom >= distant) {
        go();
        return true;
      }
      // Switch blocks to marks before zooming out: otherwise thousands of nodes are rendered in between.
      setLeaving(true);
      setTimeout(() => {
        go();
        setLeaving(false);
      }, 50);
      return true;
    },
    [arranged, flow],
  );
  const shown = useRef<Arranged>(undefined);
  useEffect(() => {
    const before = shown.current?.points[active];
    const at = arranged.points[active];
    const first = shown.current === undefined;
    shown.current = arranged;
    if (fit(readable) || !at) {
      return;
    }
    if (first) {
      // Leave room for the dependents on the right.
      const width = holder.current?.clientWidth ?? 0;
      const zoom = width < 600 ? 0.7 : 0.8;
      const aside = width < 600 ? width / zoom / 2 - 16 : Math.max(size.width / 2, (width / zoom) * 0.3);
      void flow.setCenter(at.x + aside, at.y + size.height / 2, { zoom });
    } else if (before) {
      // Keep the active node at the same position.
      const { x, y, zoom } = flow.getViewport();
      void flow.setViewport({ x: x + (before.x - at.x) * zoom, y: y + (before.y - at.y) * zoom, zoom });
    }
    // Only a new layout moves the view, not a new active node.
  }, [arranged]);

  const press = (e: KeyboardEvent) => {
    const direction = directions[e.key];
    if (direction) {
      e.preventDefault();
      const block = arranged.blocks.find((b) => b.refs.includes(active))?.refs ?? [];
      const beside = graph.edges.flatMap((e) => (e.from === active ? [e.to] : e.to === active ? [e.from] : []));
      const next = step(arranged.points, active, direction, block, beside);
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
  // Move the node into view before it gets the focus.
  const go = (ref: string) => {
    wanted.current = ref;
    setActive(ref);
    const at = arranged.points[ref];
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
    if (!arranged.points[active]) {
      setActive(arranged.points[root] ? root : (Object.keys(arranged.points)[0] ?? root));
    }
  }, [arranged, active, root]);

  return (
    <div ref={holder} className={styles.canvas} role="group" aria-label={label} onKeyDown={press} data-scheme={scheme}>
      <GraphContext.Provider value={{ active, wanted, setActive, onOpen, onChoose }}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          minZoom={0.02}
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
          defaultMarkerColor={null}
          proOptions={{ hideAttribution: true }}
        />
      </GraphContext.Provider>
      <Controls root={graph.names?.root ?? words.thisEntity} onFit={() => fit(0)} onZoom={(by) => void flow.zoomTo(flow.getZoom() * by)} onHome={() => show(root, 1)} />
    </div>
  );
}

function Controls({ root, onFit, onZoom, onHome }: { root: string; onFit: () => void; onZoom: (by: number) => void; onHome: () => void }) {
  const buttons: [string, IconName, () => void][] = [
    [words.zoomIn, "plus", () => onZoom(1.4)],
    [words.zoomOut, "minus", () => onZoom(1 / 1.4)],
    [words.fit, "fit", onFit],
    [words.center(root), "refresh", onHome],
  ];
  return (
    <Group gap={4} className={styles.controls} role="toolbar" aria-label={words.controls}>
      {buttons.map(([label, icon, act]) => (
        <ActionIcon key={label} variant="default" size="lg" aria-label={label} title={label} onClick={act}>
          <Icon name={icon} size={16} />
        </ActionIcon>
      ))}
    </Group>
  );
}
