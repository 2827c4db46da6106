import { Code, Group, Stack, Tabs, Text } from "@mantine/core";
import { Copy } from "../components/Copy";
import type { Position } from "../components/FindingList";
import { Notice } from "../components/Notice";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { TabBar } from "../entity/TabBar";
import { texts } from "../text";
import { Api } from "./Api";
import { Changes } from "./Changes";
import { Entities } from "./Entities";
import { Findings } from "./Findings";
import { FormView } from "./FormView";
import type { Previewed, View } from "./preview";
import { statusOf } from "./status";
import styles from "./Playground.module.css";

const words = texts.playground;

export const tabs = ["form", "entities", "api", "findings", "changes"] as const;
export type Tab = (typeof tabs)[number];

type Props = {
  view: View;
  definition?: Previewed;
  // text is what the editor holds.
  text: string;
  tabs: Tab[];
  tab: Tab;
  onTab: (tab: string | null) => void;
  onGo: (at: Position) => void;
};

// Result shows what is generated from a definition: its form, entities, API document and findings, and how it differs from
// the ingested one.
export function Result({ view, definition, text, tabs, tab, onTab, onGo }: Props) {
  const failed = view.findings.some((f) => f.severity === "error");
  return (
    <>
      <Text size="sm" c={failed ? "var(--error-text)" : "dimmed"} role="status" data-testid="status" className={styles.status}>
        {statusOf(view, definition)}
      </Text>
      {view.error !== null && view.error !== undefined && <ErrorAlert error={view.error} retry={view.retry} />}
      {definition?.refused && !view.stale && (
        <Notice tone="warning" title={words.refused}>
          {words.refusedHint(definition.refused.charAt(0).toUpperCase() + definition.refused.slice(1))}
        </Notice>
      )}
      <Tabs value={tab} onChange={onTab} keepMounted={false}>
        <TabBar tabs={tabs.map((t) => ({ name: t, title: t === "findings" && view.findings.length > 0 ? words.findingsCount(view.findings.length) : words.tabs[t] }))} active={tab} />
        <Tabs.Panel value={tab}>
          {tab === "findings" ? (
            <Findings findings={view.findings} passed={view.passed} onGo={onGo} />
          ) : tab === "changes" ? (
            <Changes text={text} onGo={onGo} />
          ) : (
            <div className={view.stale ? styles.stale : undefined}>
              {definition ? (
                <Generated tab={tab} definition={definition} />
              ) : view.busy ? (
                <Loading label={words.generating} />
              ) : (
                <Empty title={words.empty}>{words.emptyHint}</Empty>
              )}
            </div>
          )}
        </Tabs.Panel>
      </Tabs>
      {definition && <EquivalentCommand command={definition.command} />}
    </>
  );
}

function Generated({ tab, definition }: { tab: Exclude<Tab, "findings" | "changes">; definition: Previewed }) {
  switch (tab) {
    case "form":
      return <FormView definition={definition} />;
    case "entities":
      return <Entities definition={definition} />;
  }
  return <Api definition={definition} />;
}

function EquivalentCommand({ command }: { command: string }) {
  return (
    <Stack gap={4}>
      <Text size="sm" id="command">
        {words.command}
      </Text>
      <Group gap="xs" align="flex-start" className={styles.commandLine}>
        <Code block className={styles.command} role="region" aria-labelledby="command" tabIndex={0}>
          {command.split(/(?<= )(?=--)/).map((part) => (
            // Lines break only between flags.
            <span key={part} className={styles.flag}>
              {part}
            </span>
          ))}
        </Code>
        <Copy text={command} />
      </Group>
    </Stack>
  );
}
