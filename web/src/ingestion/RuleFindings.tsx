import { Accordion, Button, Group, List, Select, Stack, Text } from "@mantine/core";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag } from "../components/Tag";
import { useFindings, useRules, type Finding, type Rule, type FindingFilter } from "./queries";
import { texts } from "../text";
import { useAddress } from "./address";
import { tones } from "./Explain";
import { ExplainLink } from "./ExplainLink";
import { sentence } from "./labels";

const words = texts.ingestion.findings;

// RuleFindings shows the findings of definitions by rule, most severe first.
export function RuleFindings({ clusters, version }: { clusters: string[]; version: string }) {
  const [params, set] = useAddress();
  const filter: FindingFilter = { severity: params.get("severity") ?? undefined, cluster: params.get("cluster") ?? undefined, definition: params.get("definition") ?? undefined };
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const { data, error, refetch } = useRules(filter, version);
  const open = params.getAll("rule");

  return (
    <Stack gap="sm" component="section" aria-label={words.title}>
      <Group justify="space-between">
        <Group gap="xs">
          {filter.definition && (
            <>
              <Tag>{words.onlyOf(filter.definition)}</Tag>
              <Button size="compact-xs" variant="default" onClick={() => set({ definition: undefined })}>
                {words.showAll}
              </Button>
            </>
          )}
          <Text size="sm" c="dimmed">
            {data && data.totalItems > 0 && words.total(data.totalItems, data.rules.length)}
          </Text>
        </Group>
        <Group gap="xs">
          {clusters.length > 1 && (
            <Select size="xs" w={160} aria-label={words.byCluster} placeholder={words.allClusters} clearable data={clusters} value={filter.cluster ?? null} onChange={(value) => set({ cluster: value ?? undefined })} />
          )}
          <Select
            size="xs"
            w={160}
            aria-label={words.bySeverity}
            placeholder={words.allSeverities}
            clearable
            data={(["error", "warning", "info"] as const).map((value) => ({ value, label: words.severities[value] }))}
            value={filter.severity ?? null}
            onChange={(value) => set({ severity: value ?? undefined })}
          />
        </Group>
      </Group>
      {data && data.pending > 0 && (
        <Text size="sm" c="dimmed" role="status">
          {words.pending(data.pending)}
        </Text>
      )}
      {error && !data ? (
        <ErrorAlert error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading label={words.loading} />
      ) : data.rules.length === 0 ? (
        <Empty
          title={filtered ? words.noResults : words.none}
          action={
            filtered && (
              <Button size="xs" variant="default" onClick={() => set({ severity: undefined, cluster: undefined, definition: undefined })}>
                {words.clear}
              </Button>
            )
          }
        >
          {filtered ? undefined : data.pending > 0 ? words.nonePending : words.noneHint}
        </Empty>
      ) : (
        <Accordion variant="contained" order={2} multiple value={open} onChange={(values) => set({ rule: values })}>
          {data.rules.map((rule) => (
            <Accordion.Item key={rule.rule} value={rule.rule}>
              <Accordion.Control>
                <Group gap="xs" wrap="wrap">
                  <Tag tone={tones[rule.severity]}>{words.severity[rule.severity]}</Tag>
                  <Text component="span" size="sm" fw={500} c="var(--mantine-color-text)" w={{ base: "100%", xs: "auto" }}>
                    {sentence(rule.title ?? rule.rule)}
                  </Text>
                  <Text component="span" size="sm" c="dimmed">
                    {rule.rule}, {words.inDefinitions(rule.findings, rule.definitions)}
                  </Text>
                </Group>
              </Accordion.Control>
              <Accordion.Panel>{open.includes(rule.rule) && <RuleItems rule={rule} filter={filter} />}</Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
    </Stack>
  );
}

function RuleItems({ rule, filter }: { rule: Rule; filter: FindingFilter }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useFindings(filter, rule, true);
  if (error && !data) {
    return <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  if (!data) {
    return <Loading label={words.loading} lines={2} />;
  }
  return (
    <Stack gap="sm">
      {rule.why && (
        <Text size="sm" c="dimmed">
          {rule.why}
        </Text>
      )}
      <List size="sm" spacing="xs">
        {data.pages.flatMap((p, at) => p.items.map((f, i) => <FindingItem key={`${at} ${i}`} finding={f} />))}
      </List>
      {hasNextPage && (
        <Group>
          <Button size="compact-sm" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {words.more}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function FindingItem({ finding: f }: { finding: Finding }) {
  const name = f.definition ?? f.object ?? f.entity ?? "";
  return (
    <List.Item style={{ overflowWrap: "anywhere" }}>
      <Group gap={6} component="span" display="inline-flex">
        {f.entity ? <RefLink to={f.entity}>{name}</RefLink> : name}
        {f.clusters.map((cluster) => (
          <Tag key={cluster}>{cluster}</Tag>
        ))}
        {f.definition && <ExplainLink name={f.definition} />}
      </Group>
      <div>
        {f.hint ? words.withHint(sentence(f.message), f.hint) : words.message(sentence(f.message))}
      </div>
      {(f.path || (f.object && f.object !== name)) && (
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {[f.object === name ? "" : f.object, f.path].filter(Boolean).join(" ")}
        </Text>
      )}
    </List.Item>
  );
}
