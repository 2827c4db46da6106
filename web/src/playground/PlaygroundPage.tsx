import { lazy, Suspense, useState, type DragEvent } from "react";
import { Button, Code, FileButton, Group, Kbd, Menu, Select, Stack, Tabs, Text } from "@mantine/core";
import { Notice } from "../components/Notice";
import { Copy } from "../components/Copy";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Api } from "./Api";
import { useAddress, useDraft } from "./draft";
import type { Jump } from "./Editor";
import { Entities } from "./Entities";
import { examples } from "./examples";
import { Findings } from "./Findings";
import { FormView } from "./FormView";
import { maxTextBytes } from "./link";
import { profiles, usePreview, vocabularies, type Profile, type Vocabulary } from "./preview";
import { statusOf } from "./status";
import styles from "./Playground.module.css";

const Editor = lazy(() => import("./Editor"));

const profileNames: Record<Profile, string> = {
  composerIngestor: "Crossplane ingestor",
  clusterIngestor: "Kubernetes ingestor",
  cli: "Command line",
};
const vocabularyNames: Record<Vocabulary, string> = { auto: "Detect from the text", portal: "Portal (neutral)", upstream: "Crossplane and Backstage" };

// keysId is the id of the keyboard hints.
const keysId = "editor-keys";
const mod = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";

const tabs = ["form", "entities", "api", "findings"] as const;

function oneOf<T extends string>(all: readonly T[], value: string | null): T | undefined {
  return all.find((one) => one === value);
}

// PlaygroundPage shows an editor with a preview of the generated entities. Nothing is saved.
export default function PlaygroundPage() {
  const [address, set, setHash] = useAddress();
  const draft = useDraft(setHash);
  const profile = oneOf(profiles, address.get("profile")) ?? "composerIngestor";
  const words = oneOf(vocabularies, address.get("words"));
  const tab = oneOf(tabs, address.get("tab")) ?? "form";
  const view = usePreview(draft.text ?? "", { profile, words });
  const [jump, setJump] = useState<Jump>();
  const [dropping, setDropping] = useState(false);
  const [fileTrouble, setFileTrouble] = useState<string>();

  const open = async (file: File | null | undefined) => {
    if (!file) {
      return;
    }
    if (file.size > maxTextBytes) {
      setFileTrouble(`${file.name} is larger than 1 MiB, the limit of the playground. ingestor-cli has no such limit.`);
      return;
    }
    setFileTrouble(undefined);
    draft.setText(await file.text());
  };
  const drop = (event: DragEvent) => {
    setDropping(false);
    if (event.dataTransfer.files.length > 0) {
      // By default, the editor would insert the file at the pointer.
      event.preventDefault();
      event.stopPropagation();
      void open(event.dataTransfer.files[0]);
    }
  };

  const definitions = view.shown?.definitions ?? [];
  const definition = definitions.find((d) => d.name === address.get("definition")) ?? definitions.find((d) => d.entities.length > 0) ?? definitions[0];
  const trouble = fileTrouble ?? draft.trouble;

  return (
    <Page
      title="Playground"
      lead="Type or paste a definition to preview the entities that the portal generates from it. Nothing is saved."
      actions={
        <>
          <Menu>
            <Menu.Target>
              <Button size="xs" variant="default" rightSection={<Icon name="down" size={14} />}>
                Examples
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {examples.map((e) => (
                <Menu.Item key={e.name} onClick={() => draft.setText(e.text)}>
                  {e.name}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          <FileButton onChange={(file) => void open(file)} accept=".yaml,.yml,.json">
            {(props) => (
              <Button {...props} size="xs" variant="default" leftSection={<Icon name="upload" size={14} />}>
                Open file
              </Button>
            )}
          </FileButton>
          <Copy text={() => window.location.href} label="Copy link" />
        </>
      }
    >
      {trouble && (
        <div role="status">
          <Notice tone="warning">{trouble}</Notice>
        </div>
      )}
      <div className={styles.halves}>
        <section
          aria-label="Editor"
          className={styles.left}
          onDragOverCapture={(event) => {
            if (event.dataTransfer.types.includes("Files")) {
              event.preventDefault();
              setDropping(true);
            }
          }}
          onDragLeave={() => setDropping(false)}
          onDropCapture={drop}
        >
          <div className={`${styles.editor} ${dropping ? styles.dropping : ""}`}>
            {draft.text === undefined ? (
              <Loading label="Opening link" />
            ) : (
              <Suspense fallback={<Loading label="Loading editor" lines={8} />}>
                <Editor text={draft.text} onChange={draft.setText} findings={view.findings} jump={jump} describedBy={keysId} />
              </Suspense>
            )}
          </div>
          <Text size="xs" c="dimmed" id={keysId}>
            Tab leaves the editor. <Kbd size="xs">{mod}</Kbd> <Kbd size="xs">]</Kbd> and <Kbd size="xs">[</Kbd> indent and outdent lines. <Kbd size="xs">F8</Kbd> jumps to the next finding.
          </Text>
        </section>
        <section aria-label="Result" className={styles.result}>
          <Stack gap="sm">
            <div className={styles.choices}>
              <Select
                size="xs"
                label="Profile"
                data={profiles.map((p) => ({ value: p, label: profileNames[p] }))}
                value={profile}
                allowDeselect={false}
                onChange={(value) => set("profile", value === "composerIngestor" ? undefined : (value ?? undefined))}
              />
              <Select
                size="xs"
                label="Vocabulary"
                placeholder="As configured"
                clearable
                data={vocabularies.map((w) => ({ value: w, label: vocabularyNames[w] }))}
                value={words ?? null}
                onChange={(value) => set("words", value ?? undefined)}
              />
              {definitions.length > 1 && (
                <Select
                  size="xs"
                  label="Definition"
                  data={[...new Set(definitions.map((d) => d.name))]}
                  value={definition?.name ?? null}
                  allowDeselect={false}
                  onChange={(value) => set("definition", value ?? undefined)}
                />
              )}
            </div>
            <Text size="sm" c="dimmed" role="status" data-testid="status">
              {statusOf(view, definition)}
            </Text>
            {view.error !== null && view.error !== undefined && <ErrorAlert error={view.error} retry={view.retry} />}
            {definition?.refused && !view.stale && (
              <Notice tone="warning" title="The service would skip this definition">
                {definition.refused.charAt(0).toUpperCase() + definition.refused.slice(1)}. The preview below shows what would be generated otherwise.
              </Notice>
            )}
            <Tabs value={tab} onChange={(value) => set("tab", value === "form" ? undefined : (value ?? undefined))} keepMounted={false}>
              <Tabs.List>
                <Tabs.Tab value="form">Form</Tabs.Tab>
                <Tabs.Tab value="entities">Entities</Tabs.Tab>
                <Tabs.Tab value="api">API</Tabs.Tab>
                <Tabs.Tab value="findings">Findings{view.findings.length > 0 ? ` (${view.findings.length})` : ""}</Tabs.Tab>
              </Tabs.List>
              <div className={view.stale ? styles.stale : undefined}>
                {definition ? (
                  <>
                    <Tabs.Panel value="form" pt="md">
                      <FormView definition={definition} />
                    </Tabs.Panel>
                    <Tabs.Panel value="entities" pt="md">
                      <Entities definition={definition} />
                    </Tabs.Panel>
                    <Tabs.Panel value="api" pt="md">
                      <Api definition={definition} />
                    </Tabs.Panel>
                  </>
                ) : (
                  tab !== "findings" && (
                    <Tabs.Panel value={tab} pt="md">
                      {view.busy ? <Loading label="Generating preview" /> : <Empty title="No definition yet">Paste a CompositeResourceDefinition on the left, drop a file there, or choose an example.</Empty>}
                    </Tabs.Panel>
                  )
                )}
              </div>
              <Tabs.Panel value="findings" pt="md">
                <Findings findings={view.findings} passed={view.passed} onGo={(f) => setJump({ line: f.line ?? 1, column: f.column ?? 1 })} />
              </Tabs.Panel>
            </Tabs>
            {definition && (
              <Stack gap={4}>
                <Text size="sm" id="command">
                  Equivalent command, with the text in a file and the portal's configuration:
                </Text>
                <Group gap="xs" align="flex-start">
                  <Code block className={styles.command} role="region" aria-labelledby="command" tabIndex={0}>
                    {definition.command.split(/(?<= )(?=--)/).map((part) => (
                      // Lines break only between flags.
                      <span key={part} className={styles.flag}>
                        {part}
                      </span>
                    ))}
                  </Code>
                  <Copy text={definition.command} />
                </Group>
              </Stack>
            )}
          </Stack>
        </section>
      </div>
    </Page>
  );
}
