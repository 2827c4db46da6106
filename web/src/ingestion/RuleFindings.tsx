import { Accordion, Anchor, Button, Group, List, Select, Stack, Text, Title } from "@mantine/core";
import { Link, useLocation, useSearchParams } from "react-router";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag } from "../components/Tag";
import { useFindings, useRules, type Finding, type Rule, type FindingFilter } from "./queries";
import { tones } from "./Explain";
import { countOf } from "./target";
import { sentence } from "./labels";

// RuleFindings shows the findings of definitions by rule, most severe first.
export function RuleFindings({ clusters, version }: { clusters: string[]; version: string }) {
  const [params, setParams] = useSearchParams();
  const filter: FindingFilter = { severity: params.get("severity") ?? undefined, cluster: params.get("cluster") ?? undefined };
  const { data, error, refetch } = useRules(filter, version);
  const open = params.getAll("rule");
  const set = (name: string, values: string[]) =>
    setParams(
      (now) => {
        now.delete(name);
        values.forEach((value) => now.append(name, value));
        return now;
      },
      { replace: true, preventScrollReset: true },
    );
  const chosen = (name: string) => (value: string | null) => set(name, value === null ? [] : [value]);

  return (
    <Stack gap="sm" component="section" aria-label="Findings">
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={2} size="h4">
            Findings
          </Title>
          {data && data.totalItems > 0 && (
            <Text size="sm" c="dimmed">
              {countOf(data.totalItems, "findings")} from {countOf(data.rules.length, "rules")}, most severe first.
            </Text>
          )}
        </div>
        <Group gap="sm">
          {clusters.length > 1 && (
            <Select size="xs" aria-label="Filter findings by cluster" placeholder="All clusters" clearable data={clusters} value={filter.cluster ?? null} onChange={chosen("cluster")} />
          )}
          <Select
            size="xs"
            aria-label="Filter findings by severity"
            placeholder="All severities"
            clearable
            data={[
              { value: "error", label: "Errors" },
              { value: "warning", label: "Warnings" },
              { value: "info", label: "Info" },
            ]}
            value={filter.severity ?? null}
            onChange={chosen("severity")}
          />
        </Group>
      </Group>
      {data && data.pending > 0 && (
        <Text size="sm" c="dimmed" role="status">
          {countOf(data.pending, "definitions")} changed and will be checked shortly.
        </Text>
      )}
      {error && !data ? (
        <ErrorAlert error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading label="Loading findings" />
      ) : data.rules.length === 0 ? (
        <Empty title={filter.severity || filter.cluster ? "No results" : "No findings"}>
          {filter.severity || filter.cluster ? "Clear the filters." : data.pending > 0 ? "Changed definitions will be checked shortly." : "All ingested definitions passed the checks."}
        </Empty>
      ) : (
        <Accordion variant="contained" order={3} multiple value={open} onChange={(values) => set("rule", values)}>
          {data.rules.map((rule) => (
            <Accordion.Item key={rule.rule} value={rule.rule}>
              <Accordion.Control>
                <Group gap="xs" wrap="wrap">
                  <Tag tone={tones[rule.severity]}>{rule.severity}</Tag>
                  <Text component="span" size="sm" fw={500} c="var(--mantine-color-text)">
                    {sentence(rule.title ?? rule.rule)}
                  </Text>
                  <Text component="span" size="sm" c="dimmed">
                    {rule.rule}, {rule.findings === rule.definitions ? countOf(rule.definitions, "definitions") : `${rule.findings} findings in ${countOf(rule.definitions, "definitions")}`}
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
    return <Loading label="Loading findings" lines={2} />;
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
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function FindingItem({ finding: f }: { finding: Finding }) {
  const name = f.definition ?? f.object ?? f.entity ?? "";
  return (
    <List.Item>
      <Group gap={6} component="span" display="inline-flex">
        {f.entity ? <RefLink to={f.entity}>{name}</RefLink> : name}
        {f.clusters.map((cluster) => (
          <Tag key={cluster}>{cluster}</Tag>
        ))}
        {f.definition && <ExplainLink name={f.definition} />}
      </Group>
      <div>
        {sentence(f.message)}
        {f.hint ? `: ${f.hint}.` : "."}
      </div>
      {(f.path || (f.object && f.object !== name)) && (
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {[f.object === name ? "" : f.object, f.path].filter(Boolean).join(" ")}
        </Text>
      )}
    </List.Item>
  );
}

// ExplainLink opens the explanation of a definition on this page.
export function ExplainLink({ name, children = "explain" }: { name: string; children?: string }) {
  const { search } = useLocation();
  const params = new URLSearchParams(search);
  params.set("explain", name);
  return (
    <Anchor component={Link} to={{ search: params.toString() }} preventScrollReset inherit underline="always" aria-label={`Explain ${name}`}>
      {children}
    </Anchor>
  );
}
