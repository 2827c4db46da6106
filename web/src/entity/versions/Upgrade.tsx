import { Button, Group, Text } from "@mantine/core";
import { usePermission } from "../../app/permission";
import type { Ref } from "../../api/entity";
import type { EntityPart } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Incomplete } from "../../components/Incomplete";
import { ErrorAlert, Loading } from "../../components/State";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import { number, texts } from "../../text";
import { Box } from "../Box";
import { isMissing } from "../queries";
import { Behind } from "./Behind";
import { useUsage, useVersions, type Usage, type Versions } from "./queries";

const words = texts.entity.versions.upgrade;

// Upgrade shows how many resources are written in which version of a definition, and which ones have to move to the preferred
// version. A definition with one version has nothing to upgrade. of is one of the definition's entities.
export function Upgrade({ family, of }: { family: EntityPart[]; of: Ref }) {
  const { data, error, refetch } = useVersions(of);
  const access = usePermission("catalog.ingestion.read");
  const several = (data?.versions.length ?? 0) > 1;
  const usage = useUsage(of, several && access.allowed);
  if (!data && error && !isMissing(error)) {
    return <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  if (!data || !several) {
    return null;
  }
  return (
    <Box title={access.allowed ? words.title : words.versions}>
      <DataTable label={words.table} columns={columnsOf(access.allowed)} rows={rowsOf(data, usage.data)} keyOf={(r) => r.version} />
      {access.known && !access.allowed && <Text size="sm">{words.permission}</Text>}
      {usage.isError && <ErrorAlert title={words.failed} error={usage.error} retry={() => void usage.refetch()} />}
      {usage.isLoading && <Loading label={words.loading} lines={2} />}
      {usage.data && (
        <>
          {usage.data.incomplete.length > 0 && <Incomplete title={words.incomplete} lines={usage.data.incomplete} />}
          <Behind usage={usage.data} family={family} />
          <Group gap="xs">
            <Button size="compact-sm" variant="default" loading={usage.isFetching} onClick={() => void usage.refetch()}>
              {words.refresh}
            </Button>
            <Text size="xs" c="dimmed">
              {words.read} <Time at={usage.dataUpdatedAt} />
            </Text>
          </Group>
        </>
      )}
    </Box>
  );
}

type Version = Versions["versions"][number];

// Row is a version of the definition, or one that only resources have.
type Row = { version: string; preferred: boolean; defined?: Version; used?: Usage["versions"][number] };

function rowsOf({ versions, preferred }: Versions, usage: Usage | undefined): Row[] {
  const used = usage?.versions ?? [];
  const row = (version: string): Row => ({
    version,
    preferred: version === preferred,
    defined: versions.find((v) => v.name === version),
    used: used.find((u) => u.version === version) ?? (usage && { version, count: 0, clusters: [] }),
  });
  const names = versions.map((v) => v.name);
  return [...names, ...used.map((u) => u.version).filter((version) => !names.includes(version))].map(row);
}

function columnsOf(counted: boolean): Column<Row>[] {
  const counts: Column<Row>[] = [
    { title: words.resources, cell: (r) => r.used && number(r.used.count) },
    { title: words.clusters, cell: (r) => r.used && words.someClusters(r.used.clusters) },
  ];
  return [
    { title: words.version, cell: (r) => r.version || words.unknown, priority: "key" },
    { title: words.status, cell: (r) => <Status row={r} />, width: "wide" },
    ...(counted ? counts : []),
  ];
}

function Status({ row: { version, preferred, defined } }: { row: Row }) {
  if (!defined) {
    return version === "" ? null : <Tag tone="warning">{words.undefined}</Tag>;
  }
  return (
    <>
      <Group gap={4}>
        {preferred ? <Tag tone="success">{words.preferred}</Tag> : <Tag>{defined.served ? words.served : words.unserved}</Tag>}
        {defined.deprecated && <Tag tone="warning">{words.deprecated}</Tag>}
      </Group>
      {defined.warning && (
        <Text size="xs" mt={4}>
          {defined.warning}
        </Text>
      )}
    </>
  );
}
