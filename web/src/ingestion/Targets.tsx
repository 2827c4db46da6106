import type { ReactNode } from "react";
import { Anchor, Button, Group, Text, VisuallyHidden } from "@mantine/core";
import { Link } from "react-router";
import type { Access } from "../app/permission";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon } from "../components/Icon";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { number, texts } from "../text";
import { stateLabels } from "./labels";
import { useFindingCounts } from "./queries";
import { hasDetails, TargetDetails } from "./TargetDetails";
import { objectTypes, type Target } from "./target";
import styles from "./Targets.module.css";

const words = texts.ingestion.target;

type Props = {
  targets: Target[];
  // access and onRun enable the actions; without them the targets are read-only.
  access?: Access;
  busy?: (target: Target) => boolean;
  onRun?: (target: Target) => void;
};

// Targets is a table of clusters, folders and repositories, with state, last sync, the numbers of objects and findings. Where
// it has little room, each of them is a list of values.
export function Targets({ targets, access, busy, onRun }: Props) {
  const detailed = access !== undefined;
  const types = objectTypes(targets);
  const findings = useFindingCounts(detailed ? targets.filter((t) => t.cluster).map((t) => t.name) : []);
  const mixed = targets.some((t) => !t.cluster);
  const columns = [words.columns.name, words.columns.state, ...(detailed ? [words.columns.synced, ...types.map(typeTitle), words.columns.findings] : [])];
  return (
    <div className={styles.frame}>
      {/* With another display value, browsers forget the roles of table elements: they are explicit here. */}
      <table className={styles.table} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((title, i) => (
              <th key={title} scope="col" role="columnheader" className={i > 2 ? styles.number : undefined}>
                {title}
              </th>
            ))}
            {detailed && (
              <th scope="col" role="columnheader">
                <VisuallyHidden>{words.columns.actions}</VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        {targets.map((t) => (
          <tbody key={`${t.cluster} ${t.name}`} role="rowgroup" aria-label={t.name} data-tone={t.tone}>
            <tr role="row" className={styles.line}>
              <th scope="row" role="rowheader">
                <TargetName target={t} mixed={mixed} />
              </th>
              <td role="cell">
                <Tag tone={t.tone}>{stateLabels[t.state]}</Tag>
              </td>
              {detailed && (
                <>
                  <td role="cell" data-label={words.columns.synced}>
                    <Synced target={t} />
                  </td>
                  {types.map((type) => (
                    <Numbers key={type} title={typeTitle(type)} of={t.counts.find(([has]) => has === type)?.[1]} label={(n) => words.count(n, words.objects(n, type))} to={linkOf(t, type)} />
                  ))}
                  <Numbers title={words.columns.findings} of={findings.get(t.name)} label={words.findings} to={{ search: new URLSearchParams({ tab: "findings", cluster: t.name }).toString() }} />
                  <td role="cell" className={styles.action}>
                    {onRun && <RunButton target={t} access={access} busy={busy?.(t) ?? false} onRun={() => onRun(t)} />}
                  </td>
                </>
              )}
            </tr>
            {hasDetails(t) && (
              <tr role="row" className={styles.detailsLine}>
                <td role="cell" colSpan={columns.length + 1}>
                  <TargetDetails target={t} access={access} />
                </td>
              </tr>
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}

// typeTitle returns the title of the column of an object type.
function typeTitle(type: string): string {
  const known: Record<string, string> = words.columns.objects;
  return known[type] ?? type;
}

type To = { pathname?: string; search: string };

// linkOf returns where the objects of a type are listed, if they are.
function linkOf(target: Target, type: string): To | undefined {
  if (!target.cluster) {
    return undefined;
  }
  if (type === "definitions") {
    return { search: new URLSearchParams({ tab: "definitions", cluster: target.name }).toString() };
  }
  if (type === "composites") {
    const params: [string, string][] = [["cluster", target.name], ...["ready", "not ready", "unknown"].map((status): [string, string] => ["status", status])];
    return { pathname: "/catalog", search: new URLSearchParams(params).toString() };
  }
  return undefined;
}

function Numbers({ title, of, label, to }: { title: string; of?: number; label: (n: number) => string; to?: To }) {
  let shown: ReactNode = null;
  if (of !== undefined) {
    shown = to ? (
      <Anchor component={Link} to={to} inherit aria-label={label(of)}>
        {number(of)}
      </Anchor>
    ) : (
      number(of)
    );
  }
  return (
    <td role="cell" className={styles.number} data-label={title}>
      {shown}
    </td>
  );
}

function TargetName({ target, mixed }: { target: Target; mixed: boolean }) {
  return (
    <Group gap="xs" wrap="nowrap" className={styles.name}>
      <Icon name={target.cluster ? "cluster" : "repository"} size={16} aria-hidden />
      <div>
        {target.name}
        {mixed && (
          <Text size="xs" c="dimmed">
            {target.cluster ? words.cluster : words.files}
          </Text>
        )}
      </div>
    </Group>
  );
}

function Synced({ target }: { target: Target }) {
  if (!target.sources.some((s) => s.lastAttempt !== undefined || s.lastSuccess !== undefined)) {
    return null;
  }
  return (
    <div>
      <Time at={target.lastSuccess} />
      {target.tone !== "success" && target.lastAttempt && (
        <Text size="xs" c="dimmed">
          {words.lastAttempt} <Time at={target.lastAttempt} />
        </Text>
      )}
    </div>
  );
}

function RunButton({ target, access, busy, onRun }: { target: Target; access: Access; busy: boolean; onRun: () => void }) {
  return (
    <PermissionTooltip access={access}>
      <Button size="compact-sm" variant="default" leftSection={<Icon name="refresh" size={14} />} disabled={!access.allowed} loading={busy} onClick={onRun} aria-label={words.runOne(target.name)}>
        {words.run}
      </Button>
    </PermissionTooltip>
  );
}
