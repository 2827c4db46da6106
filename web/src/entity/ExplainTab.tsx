import { useQuery } from "@tanstack/react-query";
import { Code, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { usePermission } from "../app/permission";
import { fetchJson, path } from "../api/client";
import { specText } from "../api/entity";
import type { Entity, Explanation } from "../api/types";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag, type Tone } from "../components/Tag";
import { Time } from "../components/Time";
import { Box } from "./Box";
import { roleOf } from "./facts";
import { origin } from "./origin";
import { definitionOf } from "./queries";
import { Notice } from "../components/Notice";
import styles from "./Entity.module.css";
import { lookup } from "../components/lookup";

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
    return <Empty title="Permission required">{access.reason}</Empty>;
  }
  if (query.isError) {
    return <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) {
    return <Loading label="Loading explanation" />;
  }
  const explained = query.data;
  return (
    <Stack gap="md">
      {explained.failure && (
        <Notice tone="error" title="Cannot generate entities from this definition">
          {explained.failure}
        </Notice>
      )}
      {explained.stale && (
        <Notice tone="warning" title="This may be out of date">
          {explained.stale}, since <Time at={explained.staleSince} />
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

function Values({ values, entity }: { values: Explanation["values"]; entity: Entity }) {
  const itself = (v: Explanation["values"][number]) => {
    const here = own.includes(v.field) && roleOf(entity) === "resource" ? specText(entity, v.field) : "";
    return here !== "" && here !== v.value ? here : undefined;
  };
  return (
    <Box title="Where values come from">
      {values.length === 0 ? (
        <Text size="sm">No entities were generated, so there are no values.</Text>
      ) : (
        <div className={styles.scroll} tabIndex={0} role="region" aria-label="Values">
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Value</th>
                <th scope="col">Source</th>
              </tr>
            </thead>
            <tbody>
              {values.map((v, i) => (
                <tr key={i}>
                  <th scope="row">{v.field}</th>
                  <td>{itself(v) ?? v.value}</td>
                  <td>
                    {itself(v) !== undefined && `the resource itself, overriding ${v.value} from `}
                    {origin(v.from)} {v.key && <Code fz="xs">{v.key}</Code>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Box>
  );
}

function Findings({ findings }: { findings: Explanation["findings"] }) {
  return (
    <Box title="Findings">
      {findings.length === 0 ? (
        <Text size="sm">No findings.</Text>
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
  return (
    <Box title="Sources">
      <Text size="sm">
        {explained.takenBy ? `Entities are generated by ${explained.takenBy}.` : "No ingestor generates entities from it."}
        {explained.leftBy && explained.leftBy.length > 0 ? ` Otherwise ${explained.leftBy.join(" and ")} would generate them.` : ""}
      </Text>
      <ul className={styles.list}>
        {explained.copies.map((c) => (
          <li key={c.source}>
            {c.source}
            {c.version !== undefined ? `, resource version ${c.version}` : ""}
            {c.refused ? ` (skipped: ${c.refused})` : ""}
          </li>
        ))}
      </ul>
      <Text size="sm">
        <Link to="/ingestion">Ingestion status</Link>
      </Text>
    </Box>
  );
}

// few is the number of references to list: a definition may have thousands of resources.
const few = 50;

function GeneratedEntities({ explained }: { explained: Explanation }) {
  const { entities, withheld = [] } = explained;
  return (
    <Box title="Generated entities">
      <Text size="sm">{`${entities.length} entities from ${explained.compositions} Compositions and ${explained.composites} composites and claims.`}</Text>
      <ul className={styles.list}>
        {entities.slice(0, few).map((ref) => (
          <li key={ref}>
            <RefLink to={ref}>{ref}</RefLink>
          </li>
        ))}
      </ul>
      {entities.length > few && (
        <Text size="sm" c="dimmed">
          {`and ${entities.length - few} more in the catalog`}
        </Text>
      )}
      {withheld.length > 0 && <Text size="sm">{`Not added because the catalog would reject them: ${withheld.join(", ")}`}</Text>}
    </Box>
  );
}
