import { useMemo, useState } from "react";
import { Stack, Text } from "@mantine/core";
import { Canvas } from "../graph/Canvas";
import { Legend } from "../graph/Legend";
import { graphOf, objectsOf } from "./graphOf";
import { keyOf, type ObjectNode } from "./state";
import { Row } from "./Tree";

const hint = "A composite is to the left of what it composes. Use the arrow keys to move, and Enter to show details.";

// ObjectGraph draws the objects of a resource. The details of a chosen one are below the graph.
export default function ObjectGraph({ tree, onMore }: { tree: ObjectNode; onMore: () => void }) {
  const graph = useMemo(() => graphOf(tree), [tree]);
  const objects = useMemo(() => objectsOf(tree), [tree]);
  const root = keyOf(tree.ref);
  const [chosen, setChosen] = useState(root);
  const object = objects.get(chosen) ?? tree;
  return (
    <Stack gap="sm">
      <Canvas graph={graph} root={root} label="Graph of the objects; also available as a tree" onOpen={(ref) => ref === root && (tree.more ?? 0) > 0 && onMore()} onChoose={setChosen} />
      <div role="status" aria-label="Chosen object">
        {graph.nodes.length > 1 || chosen !== root ? <Row node={object} /> : <Text size="sm" c="dimmed">{`${tree.ref.kind} ${tree.ref.name} composes no objects yet.`}</Text>}
      </div>
      <Legend drawn hint={hint} />
    </Stack>
  );
}
