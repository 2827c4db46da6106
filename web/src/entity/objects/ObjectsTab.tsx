import { lazy, Suspense } from "react";
import { Button, SegmentedControl, Stack, Text } from "@mantine/core";
import { useSearchParams } from "react-router";
import type { Entity } from "../../api/types";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { Time } from "../../components/Time";
import { isMissing, useResourceStatus } from "../queries";
import { Why } from "../Why";
import { Events } from "./Events";
import { Tree } from "./Tree";
import { useMoreObjects, type MoreObjects } from "./useMoreObjects";

// The graph library is large.
const ObjectGraph = lazy(() => import("./ObjectGraph"));

// ObjectsTab shows the objects that a resource composes as a tree or a graph, and their events. It refreshes them.
export default function ObjectsTab({ entity }: { entity: Entity }) {
  const query = useResourceStatus(entity);
  const objects = useMoreObjects(entity, query.data?.tree);
  const [params, setParams] = useSearchParams();
  if (!query.data && query.problem) {
    return <Why entity={entity} />;
  }
  if (!query.data || !objects) {
    if (isMissing(query.error) || query.fetchStatus === "idle") {
      return <Empty title="No objects">This resource was not read from a cluster.</Empty>;
    }
    return query.error ? <ErrorAlert error={query.error} retry={() => void query.refetch()} /> : <Loading label="Loading objects" />;
  }
  const { cluster, read, events } = query.data;
  // On every screen the tree comes first: it has the messages, and a graph needs a wide one.
  const drawn = params.get("view") === "graph";
  return (
    <Stack gap="md">
      <Why entity={entity} />
      <SegmentedControl
        aria-label="Objects view"
        style={{ alignSelf: "flex-start" }}
        data={[
          { value: "tree", label: "Tree" },
          { value: "graph", label: "Graph" },
        ]}
        value={drawn ? "graph" : "tree"}
        onChange={(value) => setParams(value === "graph" ? { tab: "objects", view: "graph" } : { tab: "objects" }, { replace: true })}
      />
      {drawn ? (
        <Suspense fallback={<Loading label="Loading graph" lines={8} />}>
          <ObjectGraph tree={objects.tree} onMore={objects.load} />
          <More objects={objects} />
        </Suspense>
      ) : (
        <Tree tree={objects.tree} more={objects.left > 0 && <More objects={objects} />} />
      )}
      <Text size="sm" c="dimmed">
        {query.connected ? (
          `Cluster ${cluster}, live.`
        ) : (
          <>
            {`Cluster ${cluster}, read `}
            <Time at={read} />.
          </>
        )}
      </Text>
      <Events events={events ?? []} />
    </Stack>
  );
}

// More loads further objects.
function More({ objects: { left, loading, error, load } }: { objects: MoreObjects }) {
  return (
    <Stack gap="xs" align="flex-start">
      {error !== null && error !== undefined && <ErrorAlert title="Cannot load more objects" error={error} />}
      {left > 0 && (
        <Button size="xs" variant="default" loading={loading} onClick={load}>
          {`Show ${left.toLocaleString("en")} more`}
        </Button>
      )}
    </Stack>
  );
}
