import { useMemo, useState } from "react";
import { Stack, Text } from "@mantine/core";
import { Canvas } from "../graph/Canvas";
import { Legend } from "../graph/Legend";
import { texts } from "../../text";
import { graphOf, objectsOf } from "./graphOf";
import { keyOf, type ObjectNode } from "./state";
import { Row } from "./Tree";

const words = texts.entity.objects;

// ObjectGraph draws the objects of a resource. The details of a chosen one are below the graph.
export default function ObjectGraph({ tree, onMore }: { tree: ObjectNode; onMore: () => void }) {
  const graph = useMemo(() => graphOf(tree), [tree]);
  const objects = useMemo(() => objectsOf(tree), [tree]);
  const root = keyOf(tree.ref);
  const [chosen, setChosen] = useState(root);
  const object = objects.get(chosen) ?? tree;
  return (
    <Stack gap="sm">
      <Canvas graph={graph} root={root} label={words.graphLabel} onOpen={(ref) => ref === root && (tree.more ?? 0) > 0 && onMore()} onChoose={setChosen} />
      <div role="status" aria-label={words.chosen}>
        {graph.nodes.length > 1 || chosen !== root ? <Row node={object} /> : <Text size="sm" c="dimmed">{words.composesNone(tree.ref.kind, tree.ref.name)}</Text>}
      </div>
      <Legend drawn hint={words.graphHint} />
    </Stack>
  );
}
