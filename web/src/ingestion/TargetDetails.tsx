import { Group, Stack, Text } from "@mantine/core";
import type { Access } from "../app/permission";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { texts } from "../text";
import { namedSource } from "./definition";
import { sentence, stateLabels, toneOf } from "./labels";
import type { Source } from "./queries";
import { Removal } from "./Removal";
import { joinNames, type Target } from "./target";
import styles from "./Targets.module.css";

const words = texts.ingestion.target;

const errorsOf = (target: Target) => target.sources.filter((s) => s.lastError && !s.pendingRemoval);

// hasDetails reports whether a target has more to show than its line.
export function hasDetails(target: Target): boolean {
  return target.sources.length > 1 || target.stale.length + errorsOf(target).length > 0 || target.sources.some((s) => s.pendingRemoval);
}

// TargetDetails shows what is wrong with a target, and its sources if there are several.
export function TargetDetails({ target, access }: { target: Target; access?: Access }) {
  const errors = errorsOf(target);
  const alone = target.sources.length === 1 || new Set(errors.map((s) => s.lastError)).size === 1;
  return (
    <Stack gap="xs">
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
              {namedSource(s.name)}
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
          {namedSource(source.name)}
        </Text>
      )}
      <Text size="sm" c="var(--mantine-color-error)" lineClamp={4} title={source.lastError}>
        {source.lastError}
      </Text>
      {source.hint && <Text size="sm">{`${sentence(source.hint)}.`}</Text>}
    </div>
  );
}
