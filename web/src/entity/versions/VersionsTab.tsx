import { useMemo } from "react";
import { Group, Select, Stack, Switch, Text } from "@mantine/core";
import { useSearchParams } from "react-router";
import { formatRef, parseRef, refOf } from "../../api/entity";
import type { Entity } from "../../api/types";
import { RefLink } from "../../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { readDocument } from "../document/read";
import { definitionOf, useEntity, useDefinitionEntities } from "../queries";
import { Tag } from "../../components/Tag";
import { number, texts } from "../../text";
import { countBreaking, judge } from "./breaking";
import { count, diff, most } from "./diff";
import { Differences } from "./Differences";
import { choose, fieldsOfEntity, sidesOf, type Side } from "./sides";

const words = texts.entity.versions;

// VersionsTab compares the forms or schemas of two versions of a definition.
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
  return <Compared sides={sides} left={left} right={right} />;
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
      {left ? <Two left={left} right={right} all={all} /> : <One side={right} note={sides.length > 1} />}
    </Stack>
  );
}

function useFields(side: Side) {
  const query = useEntity(parseRef(side.ref), false);
  const lines = useMemo(() => query.data && fieldsOfEntity(query.data, (source) => readDocument(source).document), [query.data]);
  return { lines, error: query.error, retry: () => void query.refetch() };
}

function Two({ left, right, all }: { left: Side; right: Side; all: boolean }) {
  const [a, b] = [useFields(left), useFields(right)];
  const differences = useMemo(() => a.lines && b.lines && judge(diff(a.lines, b.lines)), [a.lines, b.lines]);
  const failed = [a, b].find((side) => side.error);
  if (failed) {
    return <ErrorAlert error={failed.error} retry={failed.retry} />;
  }
  if (!differences) {
    return <Loading label={words.comparing} />;
  }
  const breaking = countBreaking(differences);
  return (
    <Stack gap="sm">
      <Group gap="sm">
        {breaking > 0 && <Tag tone="error">{words.breakingCount(breaking)}</Tag>}
        <Text role="status">{words.summary(count(differences))}</Text>
      </Group>
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
      <Differences differences={judge(lines.map((line) => ({ path: line.path, change: "same", right: line })))} right={side.version} />
    </Stack>
  );
}

function Bounded({ lines }: { lines: number }) {
  return lines < most ? null : <Text size="sm" c="dimmed">{words.bounded(number(most))}</Text>;
}
