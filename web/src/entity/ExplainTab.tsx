import { useQuery } from "@tanstack/react-query";
import { Alert, Code, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { useMay } from "../app/may";
import { ask, path } from "../api/client";
import { specText } from "../api/entity";
import type { Entity, Explanation } from "../api/types";
import { Icon } from "../parts/Icon";
import { RefLink } from "../parts/Ref";
import { Empty, Failed, Loading } from "../parts/State";
import { Tag, type Tone } from "../parts/Tag";
import { Time } from "../parts/Time";
import { Box } from "./Box";
import { madeOf } from "./facts";
import { origin } from "./origin";
import { definitionOf } from "./queries";
import { Warning } from "./Warning";
import styles from "./Entity.module.css";
import { lookup } from "../parts/lookup";

const severities: Record<string, Tone> = { error: "bad", warning: "doubt", info: "plain" };

// ExplainTab says where the values of what was made of a definition come from, and what is wrong with it.
export default function ExplainTab({ entity }: { entity: Entity }) {
  const name = definitionOf(entity);
  const may = useMay("catalog.ingestion.read");
  const query = useQuery({
    queryKey: ["explain", name],
    queryFn: ({ signal }) => ask<Explanation>(path("/api/composer-ingestor/explain", name), { signal }),
    enabled: may.allowed,
  });
  if (may.known && !may.allowed) {
    return <Empty title="This is for those who look after ingestion">{may.why}</Empty>;
  }
  if (query.isError) {
    return <Failed error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) {
    return <Loading label="Finding out where it comes from" />;
  }
  const explained = query.data;
  return (
    <Stack gap="md">
      {explained.failure && (
        <Alert color="red" variant="outline" icon={<Icon name="warning" />} title="Nothing can be made of this definition now">
          {explained.failure}
        </Alert>
      )}
      {explained.stale && (
        <Warning title="This may be out of date">
          {explained.stale}, since <Time at={explained.staleSince} />
        </Warning>
      )}
      <Values values={explained.values} entity={entity} />
      <Findings findings={explained.findings} />
      <div className={styles.columns}>
        <Sources explained={explained} />
        <Made explained={explained} />
      </div>
    </Stack>
  );
}

// own are the values that a resource may say itself, and where they stand in its entity.
const own = ["owner", "system"];

function Values({ values, entity }: { values: Explanation["values"]; entity: Entity }) {
  const itself = (v: Explanation["values"][number]) => {
    const here = own.includes(v.field) && madeOf(entity) === "resource" ? specText(entity, v.field) : "";
    return here !== "" && here !== v.value ? here : undefined;
  };
  return (
    <Box title="Where each value comes from">
      {values.length === 0 ? (
        <Text size="sm">Nothing was made of it, so there are no values.</Text>
      ) : (
        <div className={styles.scroll} tabIndex={0} role="region" aria-label="Values">
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {values.map((v, i) => (
                <tr key={i}>
                  <th scope="row">{v.field}</th>
                  <td>{itself(v) ?? v.value}</td>
                  <td>
                    {itself(v) !== undefined && `the resource itself; without that ${v.value}, from `}
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
        <Text size="sm">Nothing is wrong with the definition.</Text>
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
    <Box title="Where the definition is">
      <Text size="sm">
        {explained.takenBy ? `Its entities are made by ${explained.takenBy}.` : "Nobody makes entities of it."}
        {explained.leftBy && explained.leftBy.length > 0 ? ` Without that, ${explained.leftBy.join(" and ")} would.` : ""}
      </Text>
      <ul className={styles.list}>
        {explained.copies.map((c) => (
          <li key={c.source}>
            {c.source}
            {c.version !== undefined ? `, resource version ${c.version}` : ""}
            {c.refused ? `: not taken, ${c.refused}` : ""}
          </li>
        ))}
      </ul>
      <Text size="sm">
        <Link to="/ingestion">How ingestion fares</Link>
      </Text>
    </Box>
  );
}

// few is how many references are listed: a definition may have thousands of resources.
const few = 50;

function Made({ explained }: { explained: Explanation }) {
  const { entities, withheld = [] } = explained;
  return (
    <Box title="What is made of it">
      <Text size="sm">{`From ${explained.compositions} Compositions, ${explained.composites} composites and claims: ${entities.length} entities.`}</Text>
      <ul className={styles.list}>
        {entities.slice(0, few).map((ref) => (
          <li key={ref}>
            <RefLink to={ref}>{ref}</RefLink>
          </li>
        ))}
      </ul>
      {entities.length > few && (
        <Text size="sm" c="dimmed">
          {`and ${entities.length - few} more; the catalog lists them`}
        </Text>
      )}
      {withheld.length > 0 && <Text size="sm">{`The catalog would refuse, so they are left out: ${withheld.join(", ")}`}</Text>}
    </Box>
  );
}
