import { Alert, Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { useSearchParams } from "react-router";
import { useMay } from "../app/may";
import { Denied } from "../parts/Denied";
import { Icon } from "../parts/Icon";
import { Page } from "../parts/Page";
import { Failed, Loading, messageOf } from "../parts/State";
import { Tag } from "../parts/Tag";
import { Time } from "../parts/Time";
import { useHealth, useRunNow, useRuns, type State } from "./ask";
import { Explain } from "./Explain";
import { Outage } from "./Outage";
import { Problems } from "./Problems";
import { Runs } from "./Runs";
import { Sources } from "./Sources";
import { changedBy, healthWords, shortSource, stateWords, toneOf } from "./words";

// IngestionPage shows how reading clusters and folders fares. It looks again every few seconds.
export default function IngestionPage() {
  const [params, setParams] = useSearchParams();
  const health = useHealth();
  const mayRead = useMay("catalog.ingestion.read");
  const mayRun = useMay("catalog.ingestion.manage");
  const detailed = health.data?.sources !== undefined;
  const runs = useRuns(mayRead.allowed);
  const now = useRunNow();
  const explained = params.get("explain") ?? "";
  const lastChange = runs.data?.find((r) => changedBy(r) > 0)?.started ?? "";

  return (
    <Page
      title="Ingestion"
      lead="What the portal reads definitions from, how that goes, and what came of it."
      actions={
        <Denied may={mayRun}>
          <Button leftSection={<Icon name="refresh" size={16} />} disabled={!mayRun.allowed} loading={now.isPending && now.variables === undefined} onClick={() => now.mutate(undefined)}>
            Run all now
          </Button>
        </Denied>
      }
    >
      <div role="status">
        {now.isSuccess && (
          <Text size="sm">
            {now.data.sources.length === 0 ? "There is no source to scan." : `Asked for: ${now.data.sources.map(shortSource).join(", ")}. It shows below as soon as it is done.`}
          </Text>
        )}
        {now.isError && <Failed error={now.error} title="The scan was not asked for" />}
      </div>
      {health.isError && health.data && (
        <Alert color="red" variant="outline" icon={<Icon name="warning" />} title="The portal does not answer" role="alert">
          {messageOf(health.error)} What is shown is of <Time at={health.dataUpdatedAt} />; this page goes on by itself when it is back.
        </Alert>
      )}
      {!health.data ? (
        health.isError ? (
          <Failed error={health.error} retry={() => void health.refetch()} />
        ) : (
          <Loading label="Asking how ingestion fares" lines={8} />
        )
      ) : (
        <Stack gap="xl">
          <Group gap="sm">
            <Tag tone={healthWords[health.data.status].tone}>{health.data.status}</Tag>
            <Text>
              {healthWords[health.data.status].title}. {health.data.entitiesGenerated} entities in the catalog, last run <Time at={health.data.lastRun} />.
            </Text>
          </Group>
          {detailed ? (
            <>
              <Outage sources={health.data.sources ?? []} />
              <Stack gap="sm" component="section" aria-label="Sources">
                <Title order={2} size="h4">
                  Sources
                </Title>
                <Sources
                  sources={health.data.sources ?? []}
                  may={mayRun}
                  busy={(name) => now.isPending && now.variables === name}
                  onRun={(name) => now.mutate(name)}
                />
              </Stack>
              {runs.isError && !runs.data ? <Failed error={runs.error} retry={() => void runs.refetch()} /> : runs.data ? <Runs runs={runs.data} /> : <Loading label="Loading the runs" />}
              <Problems failures={health.data.failures ?? {}} version={lastChange} />
            </>
          ) : (
            <Clusters clusters={health.data.clusters} why={mayRead.why} />
          )}
        </Stack>
      )}
      <Explain
        definition={explained}
        onClose={() =>
          setParams(
            (old) => {
              old.delete("explain");
              return old;
            },
            { replace: true, preventScrollReset: true },
          )
        }
      />
    </Page>
  );
}

// Clusters is what everybody may know.
function Clusters({ clusters, why }: { clusters: Record<string, State>; why?: string }) {
  return (
    <Stack gap="sm" component="section" aria-label="Clusters">
      <Title order={2} size="h4">
        Clusters
      </Title>
      {Object.keys(clusters).length === 0 ? (
        <Text size="sm">No cluster is read here; folders and repositories may be.</Text>
      ) : (
        <List>
          {Object.entries(clusters).map(([name, state]) => (
            <List.Item key={name}>
              {name} <Tag tone={toneOf(state)}>{stateWords[state]}</Tag>
            </List.Item>
          ))}
        </List>
      )}
      <Text size="sm" c="dimmed">
        Errors, runs and findings are shown to those who have the permission catalog.ingestion.read. {why}
      </Text>
    </Stack>
  );
}
