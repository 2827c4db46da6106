import { Button, List, Stack, Text, Title } from "@mantine/core";
import { useSearchParams } from "react-router";
import { usePermission } from "../app/permission";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { ErrorAlert, Loading, messageOf } from "../components/State";
import { Time } from "../components/Time";
import { useHealth, useRunNow, useRuns } from "./queries";
import { Explain } from "./Explain";
import { Notices } from "./Notices";
import { HealthSummary } from "./HealthSummary";
import { Targets } from "./Targets";
import { targetsOf } from "./target";
import { RuleFindings, ExplainLink } from "./RuleFindings";
import { Runs } from "./Runs";
import { changedBy, shortSource } from "./labels";
import { Notice } from "../components/Notice";

// IngestionPage shows the status of ingestion and refreshes it every few seconds.
export default function IngestionPage() {
  const [params, setParams] = useSearchParams();
  const health = useHealth();
  const canRead = usePermission("catalog.ingestion.read");
  const canRun = usePermission("catalog.ingestion.manage");
  const detailed = health.data?.sources !== undefined;
  // Without the permission to read ingestion, only the state of clusters is known.
  const targets = targetsOf(health.data?.sources ?? Object.entries(health.data?.clusters ?? {}).map(([name, state]) => ({ name, cluster: name, state })));
  const failed = Object.entries(health.data?.failures ?? {});
  const runs = useRuns(canRead.allowed);
  const now = useRunNow();
  const explained = params.get("explain") ?? "";
  const lastChange = runs.data?.find((r) => changedBy(r) > 0)?.started ?? "";

  return (
    <Page
      title="Ingestion"
      lead="Status of your clusters, folders and repositories, with recent runs and findings."
      actions={
        <PermissionTooltip access={canRun}>
          <Button leftSection={<Icon name="refresh" size={16} />} disabled={!canRun.allowed} loading={now.isPending && now.variables === undefined} onClick={() => now.mutate(undefined)}>
            Run all now
          </Button>
        </PermissionTooltip>
      }
    >
      <div role="status">
        {now.isSuccess && (
          <Text size="sm">
            {now.data.length === 0 ? "There are no sources to scan." : `Scan requested: ${[...new Set(now.data.map(shortSource))].join(", ")}. The run appears below when it has finished.`}
          </Text>
        )}
        {now.isError && <ErrorAlert error={now.error} title="Cannot request the scan" />}
      </div>
      {health.isError && health.data && (
        <Notice tone="error" title="No connection to the portal" role="alert">
          {messageOf(health.error)} Last updated <Time at={health.dataUpdatedAt} />. This page updates automatically when the connection is back.
        </Notice>
      )}
      {!health.data ? (
        health.isError ? (
          <ErrorAlert error={health.error} retry={() => void health.refetch()} />
        ) : (
          <Loading label="Loading ingestion status" lines={8} />
        )
      ) : (
        <Stack gap="lg">
          <HealthSummary targets={targets} failing={failed.length} entities={health.data.entitiesGenerated} />
          <Notices health={health.data} />
          <Stack gap="sm" component="section" aria-label="Clusters">
            <Title order={2} size="h4">
              {targets.every((p) => p.cluster) ? "Clusters" : "Clusters and files"}
            </Title>
            {detailed ? (
              <Targets
                targets={targets}
                access={canRun}
                busy={(target) => now.isPending && now.variables?.[0] === target.sources[0]?.name}
                onRun={(target) => now.mutate(target.sources.map((s) => s.name))}
              />
            ) : (
              <>
                <Targets targets={targets} />
                <Text size="sm" c="dimmed">
                  Errors, runs and findings require the permission catalog.ingestion.read. {canRead.reason}
                </Text>
              </>
            )}
          </Stack>
          {failed.length > 0 && (
            <Stack gap="xs" component="section" aria-label="Failures">
              <Title order={2} size="h4">
                Failures
              </Title>
              <Text size="sm">No entities can be generated from these objects. The catalog keeps their previous entities.</Text>
              <List size="sm">
                {failed.map(([name, why]) => (
                  <List.Item key={name}>
                    {name.startsWith("workload:") ? name.slice("workload:".length) : <ExplainLink name={name}>{name}</ExplainLink>}: {why}
                  </List.Item>
                ))}
              </List>
            </Stack>
          )}
          {detailed && (
            <>
              {runs.isError && !runs.data ? <ErrorAlert error={runs.error} retry={() => void runs.refetch()} /> : runs.data ? <Runs runs={runs.data} /> : <Loading label="Loading runs" />}
              <RuleFindings clusters={targets.filter((p) => p.cluster).map((p) => p.name)} version={lastChange} />
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
