import { Button, Stack, Tabs, Text } from "@mantine/core";
import { useSearchParams } from "react-router";
import { usePermission, type Access } from "../app/permission";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading, messageOf } from "../components/State";
import { Time } from "../components/Time";
import { Notice } from "../components/Notice";
import { texts } from "../text";
import { useAddress } from "./address";
import { Definitions } from "./Definitions";
import { Explain } from "./Explain";
import { changedBy, shortSource } from "./labels";
import { useHealth, useRunNow, useRuns } from "./queries";
import { RuleFindings } from "./RuleFindings";
import { Runs } from "./Runs";
import { Status } from "./Status";
import { targetsOf, type Target } from "./target";

const words = texts.ingestion;
const tabs = ["status", "definitions", "findings", "runs"] as const;
type Tab = (typeof tabs)[number];

// IngestionPage shows the status of ingestion, the definitions found, their findings, and the runs. The status refreshes
// every few seconds.
export default function IngestionPage() {
  const [params, set] = useAddress();
  const [, setParams] = useSearchParams();
  const health = useHealth();
  const canRead = usePermission("catalog.ingestion.read");
  const canRun = usePermission("catalog.ingestion.manage");
  const now = useRunNow();
  const tab = tabs.find((t) => t === params.get("tab")) ?? "status";
  // Without the permission to read ingestion, only the state of clusters is known.
  const targets = targetsOf(health.data?.sources ?? Object.entries(health.data?.clusters ?? {}).map(([name, state]) => ({ name, cluster: name, state })));

  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <PermissionTooltip access={canRun}>
          <Button leftSection={<Icon name="refresh" />} disabled={!canRun.allowed} loading={now.isPending && now.variables === undefined} onClick={() => now.mutate(undefined)}>
            {words.runAll}
          </Button>
        </PermissionTooltip>
      }
    >
      <div>
        <div role="status">
          {now.isSuccess && (
            <Text size="sm" mb="sm">
              {now.data.length === 0 ? words.noneToScan : words.scanRequested([...new Set(now.data.map(shortSource))].join(", "))}
            </Text>
          )}
          {now.isError && <ErrorAlert error={now.error} title={words.runFailed} />}
        </div>
        {health.isError && health.data && (
          <Notice tone="error" title={words.connectionLost} role="alert" mb="md">
            {messageOf(health.error)} {words.lastUpdated} <Time at={health.dataUpdatedAt} />. {words.updatesItself}
          </Notice>
        )}
        {/* The filters of one tab are not those of another. */}
        <Tabs value={tab} keepMounted={false} onChange={(value) => setParams(value === null || value === "status" ? {} : { tab: value }, { preventScrollReset: true })}>
          <Tabs.List aria-label={words.views}>
            {tabs.map((t) => (
              <Tabs.Tab key={t} value={t}>
                {words.tabs[t]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab} pt="md">
            {tab !== "status" ? (
              <Restricted tab={tab} access={canRead} targets={targets} />
            ) : health.data ? (
              <Status
                health={health.data}
                targets={targets}
                canRead={canRead}
                canRun={canRun}
                busy={(target) => now.isPending && now.variables?.[0] === target.sources[0]?.name}
                onRun={(target) => now.mutate(target.sources.map((s) => s.name))}
              />
            ) : health.isError ? (
              <ErrorAlert error={health.error} retry={() => void health.refetch()} />
            ) : (
              <Loading label={words.loadingStatus} lines={8} />
            )}
          </Tabs.Panel>
        </Tabs>
      </div>
      <Explain definition={params.get("explain") ?? ""} onClose={() => set({ explain: undefined })} />
    </Page>
  );
}

// Restricted shows a tab that requires the permission to read ingestion.
function Restricted({ tab, access, targets }: { tab: Exclude<Tab, "status">; access: Access; targets: Target[] }) {
  const runs = useRuns(access.allowed && tab !== "definitions");
  const clusters = targets.filter((t) => t.cluster).map((t) => t.name);
  if (!access.allowed) {
    return access.known || access.reason ? (
      <Empty title={words.denied}>
        {access.reason}
      </Empty>
    ) : (
      <Loading />
    );
  }
  if (tab === "definitions") {
    return <Definitions clusters={clusters} />;
  }
  if (tab === "findings") {
    return <RuleFindings clusters={clusters} version={runs.data?.find((r) => changedBy(r) > 0)?.started ?? ""} />;
  }
  return <Stack>{runs.data ? <Runs runs={runs.data} /> : runs.isError ? <ErrorAlert error={runs.error} retry={() => void runs.refetch()} /> : <Loading label={words.runs.loading} />}</Stack>;
}
