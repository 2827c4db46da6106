import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useComputedColorScheme } from "@mantine/core";
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { ErrorAlert, Loading } from "../../components/State";
import { texts } from "../../text";
import type { Arranged, Point } from "./arrange";
import { edgeTypes, nodeTypes, GraphContext } from "./Boxes";
import { Controls } from "./Controls";
import { edgesOf, nodesOf } from "./flow";
import type { Graph } from "./gather";
import { directions, step } from "./keys";
import { size } from "./sizes";
import { useLayout } from "./useLayout";
import { useRoom } from "./useRoom";
import { fitting, readable, startAt } from "./view";
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
  const frame = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const height = useRoom(frame);
  // moved tells that the user has chosen the view, which then stays as it is.
  const moved = useRef(false);
  // expanding tells that the next layout has more neighbors of a node.
  const expanding = useRef(false);

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
      const zoom = fitting(areaOf(holder.current), arranged);
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
  const start = (at: Point) => {
    const { x, y, zoom } = startAt(at, areaOf(holder.current), arranged);
    void flow.setCenter(x, y, { zoom });
  };
  const shown = useRef<Arranged>(undefined);
  useEffect(() => {
    const before = shown.current?.points[active];
    const at = arranged.points[active];
    const first = shown.current === undefined;
    const expanded = expanding.current;
    shown.current = arranged;
    expanding.current = false;
    if (!moved.current && fit(readable)) {
      return;
    }
    if (at && (first || (!moved.current && !expanded))) {
      start(at);
    } else if (at && before) {
      // Keep the active node at the same position.
      const { x, y, zoom } = flow.getViewport();
      void flow.setViewport({ x: x + (before.x - at.x) * zoom, y: y + (before.y - at.y) * zoom, zoom });
    }
    // Only a new layout moves the view, not a new active node.
  }, [arranged]);
  useEffect(() => {
    const at = arranged.points[root];
    let last = areaOf(holder.current);
    const observer = new ResizeObserver(() => {
      const area = areaOf(holder.current);
      const same = area.width === last.width && area.height === last.height;
      last = area;
      if (!same && !moved.current && !fit(readable) && at) {
        start(at);
      }
    });
    observer.observe(holder.current!);
    return () => observer.disconnect();
  }, [arranged, root]);

  const open = (ref: string) => {
    expanding.current = true;
    onOpen(ref);
  };
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
      open(active);
    }
  };
  // Move the node into view before it gets the focus.
  const go = (ref: string) => {
    moved.current = true;
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
    <div ref={frame} className={styles.canvas} style={{ height }} role="group" aria-label={label} onKeyDown={press} data-scheme={scheme}>
      <div ref={holder} className={styles.flow}>
        <GraphContext.Provider value={{ active, wanted, setActive, onOpen: open, onChoose }}>
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
            // Moves by this program have no event.
            onMoveStart={(event) => {
              moved.current ||= event !== null;
            }}
          />
        </GraphContext.Provider>
      </div>
      <Controls
        root={graph.names?.root ?? words.thisEntity}
        onFit={() => {
          moved.current = false;
          fit(0);
        }}
        onZoom={(by) => {
          moved.current = true;
          void flow.zoomTo(flow.getZoom() * by);
        }}
        onHome={() => {
          moved.current = true;
          show(root, 1);
        }}
      />
    </div>
  );
}

function areaOf(element: HTMLElement | null): { width: number; height: number } {
  return { width: element?.clientWidth ?? 0, height: element?.clientHeight ?? 0 };
}
