import { Accordion, Anchor, Button, Group, List, Select, Stack, Text, Title } from "@mantine/core";
import { Link, useLocation, useSearchParams } from "react-router";
import { RefLink } from "../parts/Ref";
import { Empty, Failed, Loading } from "../parts/State";
import { Tag } from "../parts/Tag";
import { useFindings, useRules, type Finding, type Rule, type Wanted } from "./ask";
import { tones } from "./Explain";
import { counted } from "./place";
import { sentence } from "./words";

// RuleFindings shows what is worth mending in definitions, by rule, the worst first.
export function RuleFindings({ clusters, version }: { clusters: string[]; version: string }) {
  const [params, setParams] = useSearchParams();
  const want: Wanted = { severity: params.get("severity") ?? undefined, cluster: params.get("cluster") ?? undefined };
  const { data, error, refetch } = useRules(want, version);
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
              {counted(data.totalItems, "findings")} of {counted(data.rules.length, "rules")} in the definitions, the worst first.
            </Text>
          )}
        </div>
        <Group gap="sm">
          {clusters.length > 1 && (
            <Select size="xs" aria-label="Cluster of findings" placeholder="All clusters" clearable data={clusters} value={want.cluster ?? null} onChange={chosen("cluster")} />
          )}
          <Select
            size="xs"
            aria-label="Severity of findings"
            placeholder="All severities"
            clearable
            data={[
              { value: "error", label: "errors" },
              { value: "warning", label: "warnings" },
              { value: "info", label: "remarks" },
            ]}
            value={want.severity ?? null}
            onChange={chosen("severity")}
          />
        </Group>
      </Group>
      {data && data.pending > 0 && (
        <Text size="sm" c="dimmed" role="status">
          {counted(data.pending, "definitions")} {data.pending === 1 ? "has" : "have"} changed and {data.pending === 1 ? "is" : "are"} looked at in a moment.
        </Text>
      )}
      {error && !data ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading label="Asking what was found" />
      ) : data.rules.length === 0 ? (
        <Empty title={want.severity || want.cluster ? "Nothing of that kind" : "Nothing to mend"}>
          {want.severity || want.cluster ? "Choose other findings above." : data.pending > 0 ? "What has changed is looked at in a moment." : "All definitions that are ingested are as they should be."}
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
                    {rule.rule}, {rule.findings === rule.definitions ? counted(rule.definitions, "definitions") : `${rule.findings} times in ${counted(rule.definitions, "definitions")}`}
                  </Text>
                </Group>
              </Accordion.Control>
              <Accordion.Panel>{open.includes(rule.rule) && <OfRule rule={rule} want={want} />}</Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
    </Stack>
  );
}

function OfRule({ rule, want }: { rule: Rule; want: Wanted }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useFindings(want, rule, true);
  if (error && !data) {
    return <Failed error={error} retry={() => void refetch()} />;
  }
  if (!data) {
    return <Loading label="Loading the findings" lines={2} />;
  }
  return (
    <Stack gap="sm">
      {rule.why && (
        <Text size="sm" c="dimmed">
          {rule.why}
        </Text>
      )}
      <List size="sm" spacing="xs">
        {data.pages.flatMap((p, at) => p.items.map((f, i) => <OneFinding key={`${at} ${i}`} finding={f} />))}
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

function OneFinding({ finding: f }: { finding: Finding }) {
  const name = f.definition ?? f.object ?? f.entity ?? "";
  return (
    <List.Item>
      <Group gap={6} component="span" display="inline-flex">
        {f.entity ? <RefLink to={f.entity}>{name}</RefLink> : name}
        {f.clusters.map((cluster) => (
          <Tag key={cluster}>{cluster}</Tag>
        ))}
        {f.definition && <ToExplanation name={f.definition} />}
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

// ToExplanation opens what is known of a definition, on this page.
export function ToExplanation({ name, children = "explain" }: { name: string; children?: string }) {
  const { search } = useLocation();
  const params = new URLSearchParams(search);
  params.set("explain", name);
  return (
    <Anchor component={Link} to={{ search: params.toString() }} preventScrollReset inherit underline="always" aria-label={`Explain ${name}`}>
      {children}
    </Anchor>
  );
}
