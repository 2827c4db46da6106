import { lazy, Suspense, type ReactNode } from "react";
import { Button, Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useSearchParams } from "react-router";
import { usePermission } from "../../app/permission";
import type { Entity, Schemas } from "../../api/types";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { Time } from "../../components/Time";
import { number, texts } from "../../text";
import { Conditions } from "../Conditions";
import { isMissing, useResourceStatus } from "../queries";
import { Why } from "../Why";
import { Events } from "./Events";
import { said } from "./state";
import { Tree } from "./Tree";
import { useMoreObjects, type MoreObjects } from "./useMoreObjects";

// The graph library is large.
const ObjectGraph = lazy(() => import("./ObjectGraph"));

const words = texts.entity.objects;

// ObjectsTab shows the objects that a resource composes as a tree or a graph, its conditions, and the events of all of them. It
// refreshes them.
export default function ObjectsTab({ entity }: { entity: Entity }) {
  const { data } = useResourceStatus(entity);
  const operator = usePermission("catalog.ingestion.read").allowed;
  return (
    <Stack gap="lg">
      {!(data && saysRoot(data, operator)) && <Why entity={entity} />}
      <Composed entity={entity} />
      <Section title={texts.entity.conditions.title}>
        <Conditions entity={entity} />
      </Section>
      {data && (
        <Section title={texts.entity.events.title}>
          <Events events={data.events ?? []} />
        </Section>
      )}
    </Stack>
  );
}

// saysRoot reports whether the root of the tree says all that there is to say about why a resource is not ready.
function saysRoot({ ready, reason, tree }: Schemas["ResourceStatus"], operator: boolean): boolean {
  return !ready && reason !== undefined && reason.path.length === 0 && !reason.field && said(tree, operator).includes(reason.message);
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  );
}

// Composed shows the objects of a resource.
function Composed({ entity }: { entity: Entity }) {
  const query = useResourceStatus(entity);
  const objects = useMoreObjects(entity, query.data?.tree);
  const [params, setParams] = useSearchParams();
  if (!query.data || !objects) {
    if (isMissing(query.error) || (query.fetchStatus === "idle" && !query.problem)) {
      return <Empty title={words.none}>{words.noneHint}</Empty>;
    }
    return query.error ? <ErrorAlert error={query.error} retry={() => void query.refetch()} /> : query.problem ? null : <Loading label={words.loading} />;
  }
  const { cluster, read } = query.data;
  // On every screen the tree comes first: it has the messages, and a graph needs a wide one.
  const drawn = params.get("view") === "graph";
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <SegmentedControl
          aria-label={words.view}
          data={[
            { value: "tree", label: words.tree },
            { value: "graph", label: words.graph },
          ]}
          value={drawn ? "graph" : "tree"}
          onChange={(value) => setParams(value === "graph" ? { tab: "objects", view: "graph" } : { tab: "objects" }, { replace: true })}
        />
        <Text size="sm" c="dimmed">
          {query.connected && !query.problem ? (
            words.live(cluster)
          ) : (
            <>
              {words.read(cluster)} <Time at={read} />
            </>
          )}
        </Text>
      </Group>
      {drawn ? (
        <Suspense fallback={<Loading label={words.loadingGraph} lines={8} />}>
          <ObjectGraph tree={objects.tree} onMore={objects.load} />
          <More objects={objects} />
        </Suspense>
      ) : (
        <Tree tree={objects.tree} more={objects.left > 0 && <More objects={objects} />} />
      )}
    </Stack>
  );
}

// More loads further objects.
function More({ objects: { left, loading, error, load } }: { objects: MoreObjects }) {
  return (
    <Stack gap="xs" align="flex-start">
      {error !== null && error !== undefined && <ErrorAlert title={words.moreFailed} error={error} />}
      {left > 0 && (
        <Button size="xs" variant="default" loading={loading} onClick={load}>
          {words.showMore(number(left))}
        </Button>
      )}
    </Stack>
  );
}
