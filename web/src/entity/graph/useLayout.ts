import { useEffect, useMemo, useState } from "react";
import type { Arranged, Plan } from "./arrange";
import type { Graph } from "./gather";
import { kindOf } from "./kindOf";

// runLayout runs the layout in a worker if possible. The returned function cancels it.
export function runLayout(plan: Plan, done: (arranged: Arranged) => void, failed: (err: unknown) => void): () => void {
  let given = false;
  let worker: Worker | undefined;
  const here = () =>
    import("./arrange").then(
      ({ arrange }) => !given && done(arrange(plan)),
      (err: unknown) => !given && failed(err),
    );
  if (typeof Worker === "undefined") {
    void here();
  } else {
    worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (event: MessageEvent<Arranged>) => {
      worker?.terminate();
      done(event.data);
    };
    worker.onerror = () => {
      worker?.terminate();
      void here();
    };
    worker.postMessage(plan);
  }
  return () => {
    given = true;
    worker?.terminate();
  };
}

// useLayout lays out a graph, again only if its shape changes. The previous layout stays until the new one is ready. If grouped,
// nodes of different kinds are in different blocks.
export function useLayout(graph: Graph | undefined, root: string, grouped = false): { arranged?: Arranged; error?: unknown } {
  const [state, setState] = useState<{ arranged?: Arranged; error?: unknown }>({});
  const shape = useMemo(() => {
    if (!graph) {
      return undefined;
    }
    const plan: Plan = { nodes: graph.nodes.map((n) => ({ ref: n.ref, title: n.title, ...(grouped && { group: kindOf(n) }) })), edges: graph.edges, root };
    return JSON.stringify(plan);
  }, [graph, root, grouped]);
  useEffect(() => {
    if (shape === undefined) {
      return;
    }
    return runLayout(
      JSON.parse(shape) as Plan,
      (arranged) => setState({ arranged }),
      (error) => setState({ error }),
    );
  }, [shape]);
  return state;
}
