import { Alert, Button, List, Stack, Text, Title } from "@mantine/core";
import { useSearchParams } from "react-router";
import { useMay } from "../app/may";
import { Denied } from "../parts/Denied";
import { Icon } from "../parts/Icon";
import { Page } from "../parts/Page";
import { Failed, Loading, messageOf } from "../parts/State";
import { Time } from "../parts/Time";
import { useHealth, useRunNow, useRuns } from "./ask";
import { Explain } from "./Explain";
import { Notices } from "./Notices";
import { Outage } from "./Outage";
import { Places } from "./Places";
import { placesOf } from "./place";
import { RuleFindings, ToExplanation } from "./RuleFindings";
import { Runs } from "./Runs";
import { changedBy, shortSource } from "./words";

// IngestionPage shows how reading clusters and folders fares. It looks again every few seconds.
export default function IngestionPage() {
  const [params, setParams] = useSearchParams();
  const health = useHealth();
  const mayRead = useMay("catalog.ingestion.read");
  const mayRun = useMay("catalog.ingestion.manage");
  const detailed = health.data?.sources !== undefined;
  // What everybody may know is how clusters fare.
  const places = placesOf(health.data?.sources ?? Object.entries(health.data?.clusters ?? {}).map(([name, state]) => ({ name, cluster: name, state })));
  const failed = Object.entries(health.data?.failures ?? {});
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
            {now.data.length === 0 ? "There is nothing to scan." : `Asked for: ${[...new Set(now.data.map(shortSource))].join(", ")}. It shows below as soon as it is done.`}
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
        <Stack gap="lg">
          <Outage places={places} failing={failed.length} entities={health.data.entitiesGenerated} />
          <Notices health={health.data} />
          <Stack gap="sm" component="section" aria-label="Clusters">
            <Title order={2} size="h4">
              {places.every((p) => p.cluster) ? "Clusters" : "Clusters and files"}
            </Title>
            {detailed ? (
              <Places
                places={places}
                may={mayRun}
                busy={(place) => now.isPending && now.variables?.[0] === place.sources[0]?.name}
                onRun={(place) => now.mutate(place.sources.map((s) => s.name))}
              />
            ) : (
              <>
                <Places places={places} />
                <Text size="sm" c="dimmed">
                  Errors, runs and findings are shown to those who have the permission catalog.ingestion.read. {mayRead.why}
                </Text>
              </>
            )}
          </Stack>
          {failed.length > 0 && (
            <Stack gap="xs" component="section" aria-label="Failures">
              <Title order={2} size="h4">
                Failures
              </Title>
              <Text size="sm">Nothing can be made of these now; the catalog keeps what it has of them.</Text>
              <List size="sm">
                {failed.map(([name, why]) => (
                  <List.Item key={name}>
                    {name.startsWith("workload:") ? name.slice("workload:".length) : <ToExplanation name={name}>{name}</ToExplanation>}: {why}
                  </List.Item>
                ))}
              </List>
            </Stack>
          )}
          {detailed && (
            <>
              {runs.isError && !runs.data ? <Failed error={runs.error} retry={() => void runs.refetch()} /> : runs.data ? <Runs runs={runs.data} /> : <Loading label="Loading the runs" />}
              <RuleFindings clusters={places.filter((p) => p.cluster).map((p) => p.name)} version={lastChange} />
            </>
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
