import { useMemo } from "react";
import { Group, Select, Stack, Switch, Text } from "@mantine/core";
import { useSearchParams } from "react-router";
import { formatRef, parseRef, refOf } from "../../api/entity";
import type { Entity } from "../../api/types";
import { RefLink } from "../../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { readDocument } from "../document/read";
import { definitionOf, isMissing, useEntity, useDefinitionEntities } from "../queries";
import { ChangeList } from "../../components/ChangeList";
import { number, texts } from "../../text";
import { count, diff, most } from "./diff";
import { Differences } from "./Differences";
import { useVersions } from "./queries";
import { choose, fieldsOfEntity, sidesOf, type Side } from "./sides";
import { Upgrade } from "./Upgrade";

const words = texts.entity.versions;

// VersionsTab shows which resources are written in which version of a definition, and compares the forms or schemas of two
// versions.
export default function VersionsTab({ entity }: { entity: Entity }) {
  const family = useDefinitionEntities(definitionOf(entity));
  const [params] = useSearchParams();
  const sides = useMemo(() => sidesOf(family.data ?? []), [family.data]);
  if (family.isError) {
    return <ErrorAlert error={family.error} retry={() => void family.refetch()} />;
  }
  if (!family.data) {
    return <Loading label={words.loading} />;
  }
  const first = choose(sides, formatRef(refOf(entity)));
  const find = (key: string) => sides.find((s) => s.ref === params.get(key));
  const right = find("right") ?? first.right;
  const left = find("left") ?? (first.right === right ? first.left : choose(sides, right?.ref ?? "").left);
  if (!right) {
    return <Empty title={words.nothing}>{words.nothingHint}</Empty>;
  }
  return (
    <Stack gap="md">
      <Upgrade family={family.data} of={parseRef(sides[0]!.ref)} />
      <Compared sides={sides} left={left} right={right} />
    </Stack>
  );
}

function Compared({ sides, left, right }: { sides: Side[]; left: Side | undefined; right: Side }) {
  const [params, setParams] = useSearchParams();
  const set = (key: string, value: string | null) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      if (value === null || value === "") {
        next.delete(key);
      } else {
        next.set(key, value);
      }
      return next;
    });
  const data = sides.map((s) => ({ value: s.ref, label: s.label }));
  const all = params.get("all") === "1";
  return (
    <Stack gap="md">
      {sides.length > 1 ? (
        <Group align="flex-end">
          <Select label={words.beforeLabel} data={data} value={left?.ref ?? null} onChange={(v) => set("left", v)} allowDeselect={false} miw={280} comboboxProps={{ withinPortal: false }} />
          <Select label={words.afterLabel} data={data} value={right.ref} onChange={(v) => set("right", v)} allowDeselect={false} miw={280} comboboxProps={{ withinPortal: false }} />
          <Switch label={words.showSame} checked={all} onChange={(e) => set("all", e.currentTarget.checked ? "1" : null)} mb={8} />
        </Group>
      ) : (
        <Text size="sm">
          {words.single(right.version)} <RefLink to={right.ref} icon />
        </Text>
      )}
      {left?.version && right.version && left.version !== right.version && <Verdict left={left} right={right} />}
      {left ? <Two left={left} right={right} all={all} /> : <One side={right} note={sides.length > 1} />}
    </Stack>
  );
}

// Verdict is what the server says about the changes from one version to another.
function Verdict({ left, right }: { left: Side; right: Side }) {
  const { data, error, refetch } = useVersions(parseRef(right.ref), { from: left.version, to: right.version });
  if (data) {
    return <ChangeList changes={data.changes ?? []} />;
  }
  if (isMissing(error)) {
    return (
      <Text size="sm" c="dimmed">
        {words.notIngested}
      </Text>
    );
  }
  return error ? <ErrorAlert title={words.changesFailed} error={error} retry={() => void refetch()} /> : <Loading label={words.comparing} lines={2} />;
}

function useFields(side: Side) {
  const query = useEntity(parseRef(side.ref), false);
  const lines = useMemo(() => query.data && fieldsOfEntity(query.data, (source) => readDocument(source).document), [query.data]);
  return { lines, error: query.error, retry: () => void query.refetch() };
}

function Two({ left, right, all }: { left: Side; right: Side; all: boolean }) {
  const [a, b] = [useFields(left), useFields(right)];
  const differences = useMemo(() => a.lines && b.lines && diff(a.lines, b.lines), [a.lines, b.lines]);
  const failed = [a, b].find((side) => side.error);
  if (failed) {
    return <ErrorAlert error={failed.error} retry={failed.retry} />;
  }
  if (!differences) {
    return <Loading label={words.comparing} />;
  }
  return (
    <Stack gap="sm">
      <Text role="status">{words.summary(count(differences))}</Text>
      {left.kind !== right.kind && (
        <Text size="sm" c="dimmed">
          {words.mixed}
        </Text>
      )}
      <Bounded lines={Math.max(a.lines?.length ?? 0, b.lines?.length ?? 0)} />
      <Differences differences={all ? differences : differences.filter((d) => d.change !== "same")} left={left.version} right={right.version} />
    </Stack>
  );
}

function One({ side, note }: { side: Side; note: boolean }) {
  const { lines, error, retry } = useFields(side);
  if (error) {
    return <ErrorAlert error={error} retry={retry} />;
  }
  if (!lines) {
    return <Loading label={words.loadingFields} />;
  }
  return (
    <Stack gap="sm">
      {note && <Text size="sm">{words.noEarlier}</Text>}
      <Bounded lines={lines.length} />
      <Differences differences={lines.map((line) => ({ path: line.path, change: "same", right: line }))} right={side.version} />
    </Stack>
  );
}

function Bounded({ lines }: { lines: number }) {
  return lines < most ? null : <Text size="sm" c="dimmed">{words.bounded(number(most))}</Text>;
}
