import { createContext, memo, useContext, useEffect, useRef, type RefObject } from "react";
import { BaseEdge, Handle, Position, type EdgeProps, type Node as FlowNode, type NodeProps } from "@xyflow/react";
import { Link } from "react-router";
import { readinessTitle } from "../../api/readiness";
import { Icon } from "../../components/Icon";
import { Name } from "../../components/Name";
import { texts } from "../../text";
import type { RoutedEdge } from "./flow";
import type { Node } from "./gather";
import { kindTitle } from "./kindOf";
import { Mark } from "./Mark";
import type { Marks } from "./marks";
import styles from "./Graph.module.css";

const words = texts.entity.graph;

// EntityNode is a node of the graph. root is what the root is called, and empty for other nodes.
export type EntityNode = FlowNode<{ node: Node; root: string; inBlock: boolean }, "entity">;
export type BlockNode = FlowNode<{ title: string; marks: Marks | undefined }, "block">;

// GraphContext holds the active node and the actions of nodes: onOpen shows more neighbors, onChoose is called for nodes
// without a page.
type GraphActions = {
  active: string;
  wanted: RefObject<string | undefined>;
  setActive: (ref: string) => void;
  onOpen: (ref: string) => void;
  onChoose: (ref: string) => void;
};
export const GraphContext = createContext<GraphActions>({
  active: "",
  wanted: { current: undefined },
  setActive: () => undefined,
  onOpen: () => undefined,
  onChoose: () => undefined,
});

const markStyles = { ready: styles.ready, "not ready": styles.notReady, unknown: styles.unknown, none: styles.none };

const EntityBox = memo(function EntityBox({ data }: NodeProps<EntityNode>) {
  const { node, root, inBlock } = data;
  const { active, wanted, setActive, onOpen, onChoose } = useContext(GraphContext);
  const box = useRef<HTMLElement>(null);
  const here = active === node.ref;
  useEffect(() => {
    if (here && wanted.current === node.ref) {
      wanted.current = undefined;
      box.current?.focus({ preventScroll: true });
    }
  }, [here, wanted, node.ref]);
  const kind = kindTitle(node);
  const state = node.state ?? (node.readiness && readinessTitle(node.readiness));
  const notes = [node.note, node.stale && words.stale, node.missing && words.missing];
  const label = [node.title, kind, state, ...notes, root].filter(Boolean).join(", ");
  const common = { className: `${styles.link} nopan`, tabIndex: here ? 0 : -1, "aria-label": label, title: label, onFocus: () => setActive(node.ref) };
  const inside = (
    <>
      <span className={styles.title}>
        {node.icon && <Icon name={node.icon} size={16} className={styles.icon} />}
        <span className={styles.name}>
          <Name>{node.title}</Name>
        </span>
      </span>
      <span className={styles.under}>
        {node.readiness && <Mark readiness={node.readiness} />}
        {[state, kind, ...notes].filter(Boolean).join(" · ")}
      </span>
    </>
  );
  return (
    <div className={`${styles.box} ${root ? styles.root : ""} ${node.missing ? styles.missing : ""} ${node.readiness ? `${styles.bar} ${markStyles[node.readiness]}` : ""}`}>
      {!inBlock && <Ends />}
      {node.to === undefined ? (
        <button ref={box as RefObject<HTMLButtonElement | null>} type="button" {...common} onClick={() => onChoose(node.ref)}>
          {inside}
        </button>
      ) : (
        <Link ref={box as RefObject<HTMLAnchorElement | null>} to={node.to} {...common}>
          {inside}
        </Link>
      )}
      {node.more > 0 && (
        <button type="button" className={`${styles.more} nopan`} tabIndex={here ? 0 : -1} onClick={() => onOpen(node.ref)} aria-label={words.showMoreOf(node.more, node.title)}>
          {`+${node.more}`}
        </button>
      )}
    </div>
  );
});

const BlockBox = memo(function BlockBox({ data, width = 0, height = 0 }: NodeProps<BlockNode>) {
  const { title, marks } = data;
  return (
    <div className={styles.block}>
      <Ends />
      {marks ? (
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title}>
          {marks.map((m) => (
            <path key={m.readiness} d={m.path} className={`${styles.far} ${markStyles[m.readiness]}`} />
          ))}
        </svg>
      ) : (
        <span className={styles.blockTitle}>{title}</span>
      )}
    </div>
  );
});

// Ends are the invisible handles of edges.
function Ends() {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} className={styles.end} />
      <Handle type="source" position={Position.Right} isConnectable={false} className={styles.end} />
    </>
  );
}

// RoutedLine draws an edge along the path of the layout.
function RoutedLine({ data, markerEnd }: EdgeProps<RoutedEdge>) {
  return <BaseEdge path={data?.path ?? ""} markerEnd={markerEnd} />;
}

// edgeTypes and nodeTypes are the components of the graph.
export const edgeTypes = { routed: RoutedLine };
export const nodeTypes = { entity: EntityBox, block: BlockBox };
