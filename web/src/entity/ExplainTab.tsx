import { useQuery } from "@tanstack/react-query";
import { Anchor, Code, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { usePermission } from "../app/permission";
import { fetchJson, path } from "../api/client";
import { specText } from "../api/entity";
import type { Entity, Explanation } from "../api/types";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag, type Tone } from "../components/Tag";
import { Time } from "../components/Time";
import { useTitles } from "../components/useTitles";
import { ingestorOf } from "../ingestion/definition";
import { shortSource } from "../ingestion/labels";
import { Box } from "./Box";
import { kindTitle } from "./roles";
import { roleOf } from "./facts";
import { origin } from "./origin";
import { definitionOf } from "./queries";
import { Notice } from "../components/Notice";
import styles from "./Entity.module.css";
import { DataTable, type Column } from "../components/DataTable";
import { lookup } from "../components/lookup";
import { texts } from "../text";

const words = texts.entity.explain;
const ingestors = texts.ingestion.explain;

const severities: Record<string, Tone> = { error: "error", warning: "warning", info: "plain" };

// ExplainTab shows where the values of generated entities come from, and the findings of the definition.
export default function ExplainTab({ entity }: { entity: Entity }) {
  const name = definitionOf(entity);
  const access = usePermission("catalog.ingestion.read");
  const query = useQuery({
    queryKey: ["explain", name],
    queryFn: ({ signal }) => fetchJson<Explanation>(path("/api/composer-ingestor/explain", name), { signal }),
    enabled: access.allowed,
  });
  if (access.known && !access.allowed) {
    return <Empty title={texts.entity.permissionRequired}>{access.reason}</Empty>;
  }
  if (query.isError) {
    return <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) {
    return <Loading label={words.loading} />;
  }
  const explained = query.data;
  return (
    <Stack gap="md">
      {explained.failure && (
        <Notice tone="error" title={words.failure}>
          {explained.failure}
        </Notice>
      )}
      {explained.stale && (
        <Notice tone="warning" title={texts.entity.freshness.title}>
          {texts.entity.freshness.lastRead} <Time at={explained.staleSince} />
          {`: ${words.stale(explained.stale)}`}
        </Notice>
      )}
      <Values values={explained.values} entity={entity} />
      <Findings findings={explained.findings} />
      <div className={styles.columns}>
        <Sources explained={explained} />
        <GeneratedEntities explained={explained} />
      </div>
    </Stack>
  );
}

// own are the fields that a resource can override.
const own = ["owner", "system"];

type Value = Explanation["values"][number];

function Values({ values, entity }: { values: Value[]; entity: Entity }) {
  const itself = (v: Value) => {
    const here = own.includes(v.field) && roleOf(entity) === "resource" ? specText(entity, v.field) : "";
    return here !== "" && here !== v.value ? here : undefined;
  };
  const columns: Column<Value>[] = [
    { title: words.field, cell: (v) => v.field, priority: "key" },
    { title: words.value, cell: (v) => itself(v) ?? v.value, width: "wide" },
    {
      title: words.origin,
      cell: (v) => (
        <>
          {itself(v) !== undefined && `${words.itself(v.value)} `}
          {origin(v.from)} {v.key && <Code fz="xs">{v.key}</Code>}
        </>
      ),
    },
  ];
  return (
    <Box title={words.values}>
      {values.length === 0 ? <Text size="sm">{words.noValues}</Text> : <DataTable label={words.valuesLabel} columns={columns} rows={values} keyOf={(v, i) => `${i} ${v.field}`} />}
    </Box>
  );
}

function Findings({ findings }: { findings: Explanation["findings"] }) {
  return (
    <Box title={words.findings}>
      {findings.length === 0 ? (
        <Text size="sm">{words.noFindings}</Text>
      ) : (
        <ul className={styles.list}>
          {findings.map((f, i) => (
            <li key={i}>
              <Group gap="xs" align="baseline">
                <Tag tone={lookup(severities, f.severity) ?? "plain"}>{f.severity}</Tag>
                <Code fz="xs">{f.rule}</Code>
                <Text size="sm" component="span" style={{ overflowWrap: "anywhere" }}>
                  {f.message}
                </Text>
              </Group>
              {f.hint && <Text size="sm">{f.hint}</Text>}
              {(f.path || f.file) && (
                <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                  {[f.file, f.path].filter(Boolean).join(" · ")}
                </Text>
              )}
            </li>
          ))}
        </ul>
      )}
    </Box>
  );
}

function Sources({ explained }: { explained: Explanation }) {
  const left = explained.leftBy ?? [];
  return (
    <Box title={words.sources}>
      <Text size="sm">
        {[explained.takenBy ? ingestors.takenBy(ingestorOf(explained.takenBy)) : ingestors.notTaken, left.length > 0 && ingestors.leftBy(left.map(ingestorOf).join(ingestors.and))].filter(Boolean).join(" ")}
      </Text>
      <ul className={styles.list}>
        {explained.copies.map((c) => (
          <li key={c.source}>
            {words.copy(words.read(shortSource(c.source), ingestorOf(c.source)), c.version, c.refused)}
          </li>
        ))}
      </ul>
      <Text size="sm">
        <Anchor component={Link} to="/ingestion" inherit>
          {words.ingestion}
        </Anchor>
      </Text>
    </Box>
  );
}

// few is the number of references to list: a definition may have thousands of resources.
const few = 50;

function GeneratedEntities({ explained }: { explained: Explanation }) {
  const { entities, withheld = [] } = explained;
  const titles = useTitles(entities.slice(0, few));
  return (
    <Box title={words.generated}>
      <Text size="sm">{words.counts(entities.length, explained.compositions, explained.composites)}</Text>
      <ul className={styles.list}>
        {entities.slice(0, few).map((ref) => (
          <li key={ref} className={styles.related}>
            <RefLink to={ref} icon />
            <Text component="span" size="xs" c="dimmed">
              {kindTitle(titles.get(ref)!.entity)}
            </Text>
          </li>
        ))}
      </ul>
      {entities.length > few && (
        <Text size="sm" c="dimmed">
          {words.moreInCatalog(entities.length - few)}
        </Text>
      )}
      {withheld.length > 0 && <Text size="sm">{words.withheld(withheld)}</Text>}
    </Box>
  );
}
