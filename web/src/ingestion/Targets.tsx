import { Button, Group, Stack, Text, Title } from "@mantine/core";
import type { Access } from "../app/permission";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon } from "../components/Icon";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { number, texts } from "../text";
import { sentence, stateLabels, toneOf } from "./labels";
import type { Source } from "./queries";
import { Removal } from "./Removal";
import { joinNames, type Target } from "./target";
import styles from "./Targets.module.css";

const words = texts.ingestion.target;

type Props = {
  targets: Target[];
  // access and onRun enable the actions; without them the targets are read-only.
  access?: Access;
  busy?: (target: Target) => boolean;
  onRun?: (target: Target) => void;
};

// Targets shows each cluster, folder and repository in a row, with its state, last sync and object counts.
export function Targets({ targets, access, busy, onRun }: Props) {
  return (
    <ul className={styles.targets}>
      {targets.map((p) => (
        <li key={`${p.cluster} ${p.name}`} aria-label={p.name} className={styles.target} data-tone={p.tone}>
          <div className={styles.line}>
            <TargetName target={p} />
            <Tag tone={p.tone}>{stateLabels[p.state]}</Tag>
            <Synced target={p} />
            <Counts target={p} />
            {access && onRun && (
              <div className={styles.action}>
                <PermissionTooltip access={access}>
                  <Button
                    size="compact-sm"
                    variant="default"
                    leftSection={<Icon name="refresh" size={14} />}
                    disabled={!access.allowed}
                    loading={busy?.(p) ?? false}
                    onClick={() => onRun(p)}
                    aria-label={words.runOne(p.name)}
                  >
                    {words.run}
                  </Button>
                </PermissionTooltip>
              </div>
            )}
          </div>
          <Details target={p} access={access} />
        </li>
      ))}
    </ul>
  );
}

function TargetName({ target }: { target: Target }) {
  return (
    <Group gap="xs" wrap="nowrap" className={styles.name}>
      <Icon name={target.cluster ? "cluster" : "repository"} size={16} aria-hidden />
      <div>
        <Title order={3} size="h5">
          {target.name}
        </Title>
        <Text size="xs" c="dimmed">
          {target.cluster ? words.cluster : words.files}
        </Text>
      </div>
    </Group>
  );
}

function Synced({ target }: { target: Target }) {
  if (!target.sources.some((s) => s.lastAttempt !== undefined || s.lastSuccess !== undefined)) {
    return <span />;
  }
  return (
    <Text size="sm" c="dimmed" component="div">
      <div>
        {words.lastSynced} <Time at={target.lastSuccess} />
      </div>
      {target.tone !== "success" && target.lastAttempt && (
        <div>
          {words.lastAttempt} <Time at={target.lastAttempt} />
        </div>
      )}
    </Text>
  );
}

function Counts({ target }: { target: Target }) {
  return (
    <div className={styles.counts}>
      {target.counts.map(([word, n]) => (
        <Text key={word} size="sm" component="span">
          <strong>{number(n)}</strong> {words.objects(n, word)}
        </Text>
      ))}
    </div>
  );
}

// Details shows what is wrong with a target, and its sources if there are several.
function Details({ target, access }: { target: Target; access?: Access }) {
  const errors = target.sources.filter((s) => s.lastError && !s.pendingRemoval);
  const alone = target.sources.length === 1 || new Set(errors.map((s) => s.lastError)).size === 1;
  if (target.stale.length + target.sources.filter((s) => s.pendingRemoval).length + errors.length === 0 && target.sources.length === 1) {
    return null;
  }
  return (
    <Stack gap="xs" className={styles.details}>
      {target.stale.length > 0 && (
        <Text size="sm" className={styles.stale}>
          <strong>{words.stale}</strong> {joinNames(target.stale)} {words.lastSynced} <Time at={target.staleSince} />.
        </Text>
      )}
      {target.sources.map((s) => s.pendingRemoval && <Removal key={`removal ${s.name}`} source={s} access={access} />)}
      {/* An error that all sources share is shown once. */}
      {(alone ? errors.slice(0, 1) : errors).map((s) => (
        <SourceError key={s.name} source={s} named={!alone} />
      ))}
      {target.sources.length > 1 && <Sources sources={target.sources} />}
    </Stack>
  );
}

function Sources({ sources }: { sources: Source[] }) {
  return (
    <details>
      <Text component="summary" size="sm" c="dimmed">
        {words.sources(sources.length)}
      </Text>
      <Stack gap={4} mt={4}>
        {sources.map((s) => (
          <Group key={s.name} gap="xs">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {s.name}
            </Text>
            <Tag tone={toneOf(s.state)}>{stateLabels[s.state]}</Tag>
            <Text size="sm" c="dimmed">
              <Time at={s.lastSuccess} />
            </Text>
          </Group>
        ))}
      </Stack>
    </details>
  );
}

// SourceError shows the error and hint of a source.
function SourceError({ source, named }: { source: Source; named: boolean }) {
  return (
    <div className={styles.error}>
      {named && (
        <Text size="sm" fw={600}>
          {source.name}
        </Text>
      )}
      <Text size="sm" c="var(--mantine-color-error)" lineClamp={4} title={source.lastError}>
        {source.lastError}
      </Text>
      {source.hint && <Text size="sm">{`${sentence(source.hint)}.`}</Text>}
    </div>
  );
}
