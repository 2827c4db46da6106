import { createContext, memo, useContext, useEffect, useRef, type RefObject } from "react";
import { Handle, Position, type Node as FlowNode, type NodeProps } from "@xyflow/react";
import { Link } from "react-router";
import { entityPath, parseRef } from "../../api/entity";
import type { Node } from "./gather";
import { kindOf } from "./List";
import { Mark } from "./Mark";
import type { Marks } from "./marks";
import styles from "./Graph.module.css";

export type EntityNode = FlowNode<{ node: Node; root: boolean; inBlock: boolean }, "entity">;
export type BlockNode = FlowNode<{ title: string; marks: Marks | undefined }, "block">;

// GraphContext holds the active node and the actions of nodes.
type GraphActions = { active: string; wanted: RefObject<string | undefined>; setActive: (ref: string) => void; onOpen: (ref: string) => void };
export const GraphContext = createContext<GraphActions>({ active: "", wanted: { current: undefined }, setActive: () => undefined, onOpen: () => undefined });

const markStyles = { ready: styles.ready, "not ready": styles.notReady, unknown: styles.unknown, none: styles.none };

const EntityBox = memo(function EntityBox({ data }: NodeProps<EntityNode>) {
  const { node, root, inBlock } = data;
  const { active, wanted, setActive, onOpen } = useContext(GraphContext);
  const link = useRef<HTMLAnchorElement>(null);
  const here = active === node.ref;
  useEffect(() => {
    if (here && wanted.current === node.ref) {
      wanted.current = undefined;
      link.current?.focus({ preventScroll: true });
    }
  }, [here, wanted, node.ref]);
  const kind = kindOf(node);
  const label = [node.title, kind, node.readiness, node.stale && "stale", node.missing && "not in the catalog", root && "this entity"].filter(Boolean).join(", ");
  return (
    <div className={`${styles.box} ${root ? styles.root : ""} ${node.missing ? styles.missing : ""} ${node.readiness ? `${styles.bar} ${markStyles[node.readiness]}` : ""}`}>
      {!inBlock && <Ends />}
      <Link
        ref={link}
        to={`${entityPath(parseRef(node.ref))}?tab=graph`}
        className={`${styles.link} nopan`}
        tabIndex={here ? 0 : -1}
        aria-label={label}
        title={label}
        onFocus={() => setActive(node.ref)}
      >
        <span className={styles.title}>{node.title}</span>
        <span className={styles.under}>
          {node.readiness && <Mark readiness={node.readiness} />}
          {[node.readiness, kind, node.stale && "stale", node.missing && "not in the catalog"].filter(Boolean).join(" · ")}
        </span>
      </Link>
      {node.more > 0 && (
        <button type="button" className={`${styles.more} nopan`} tabIndex={here ? 0 : -1} onClick={() => onOpen(node.ref)} aria-label={`Show ${node.more} more related to ${node.title}`}>
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

// nodeTypes are the node components of the graph.
export const nodeTypes = { entity: EntityBox, block: BlockBox };
