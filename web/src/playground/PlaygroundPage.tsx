import { useState } from "react";
import { Button, FileButton, Menu, Select, Stack } from "@mantine/core";
import { usePermission } from "../app/permission";
import { Notice } from "../components/Notice";
import { Copy } from "../components/Copy";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { texts } from "../text";
import { useAddress, useDraft } from "./draft";
import type { Jump } from "./Editor";
import { examples } from "./examples";
import { maxTextBytes } from "./link";
import { profiles, usePreview, vocabularies, type Profile, type Vocabulary } from "./preview";
import { Result, tabs } from "./Result";
import { Source } from "./Source";
import styles from "./Playground.module.css";

const words = texts.playground;

function oneOf<T extends string>(all: readonly T[], value: string | null): T | undefined {
  return all.find((one) => one === value);
}

// PlaygroundPage shows an editor with a preview of the generated entities. Nothing is saved.
export default function PlaygroundPage() {
  const [address, set, setHash] = useAddress();
  const draft = useDraft(setHash);
  const profile = oneOf(profiles, address.get("profile")) ?? "composerIngestor";
  const vocabulary = oneOf(vocabularies, address.get("words"));
  const view = usePreview(draft.text ?? "", { profile, words: vocabulary });
  const [jump, setJump] = useState<Jump>();
  const [fileTrouble, setFileTrouble] = useState<string>();

  const open = async (file: File | null | undefined) => {
    if (!file) {
      return;
    }
    if (file.size > maxTextBytes) {
      setFileTrouble(words.tooLarge(file.name));
      return;
    }
    setFileTrouble(undefined);
    draft.setText(await file.text());
  };

  const definitions = view.shown?.definitions ?? [];
  const definition = definitions.find((d) => d.name === address.get("definition")) ?? definitions.find((d) => d.entities.length > 0) ?? definitions[0];
  const trouble = fileTrouble ?? draft.trouble;
  // Comparing reads the state of ingestion.
  const { allowed } = usePermission("catalog.ingestion.read");
  const offered = tabs.filter((t) => t !== "changes" || allowed);

  return (
    <Page title={words.title} lead={words.lead} actions={<Actions onExample={draft.setText} onFile={(file) => void open(file)} />}>
      {trouble && (
        <div role="status">
          <Notice tone="warning">{trouble}</Notice>
        </div>
      )}
      <div className={styles.halves}>
        <Source draft={draft} findings={view.findings} jump={jump} onFile={(file) => void open(file)} />
        <section aria-label={words.result} className={styles.result}>
          <Stack gap="sm">
            <Options profile={profile} vocabulary={vocabulary} set={set} />
            {definitions.length > 1 && (
              <Select
                size="xs"
                maw={320}
                label={words.definition}
                data={[...new Set(definitions.map((d) => d.name))]}
                value={definition?.name ?? null}
                allowDeselect={false}
                onChange={(value) => set("definition", value ?? undefined)}
              />
            )}
            <Result
              view={view}
              definition={definition}
              text={draft.text ?? ""}
              tabs={offered}
              tab={oneOf(offered, address.get("tab")) ?? "form"}
              onTab={(value) => set("tab", value === "form" ? undefined : (value ?? undefined))}
              onGo={(at) => setJump({ line: at.line ?? 1, column: at.column || 1 })}
            />
          </Stack>
        </section>
      </div>
    </Page>
  );
}

type OptionsProps = { profile: Profile; vocabulary: Vocabulary | undefined; set: (key: string, value: string | undefined) => void };

// Options are folded unless the link of the page has some: few need them.
function Options({ profile, vocabulary, set }: OptionsProps) {
  const [given] = useState(profile !== "composerIngestor" || vocabulary !== undefined);
  return (
    <details className={styles.options} open={given}>
      <summary>{words.options}</summary>
      <div className={styles.choices}>
        <Select
          size="xs"
          label={words.profile}
          data={profiles.map((p) => ({ value: p, label: words.profiles[p] }))}
          value={profile}
          allowDeselect={false}
          onChange={(value) => set("profile", value === "composerIngestor" ? undefined : (value ?? undefined))}
        />
        <Select
          size="xs"
          label={words.vocabulary}
          placeholder={words.asConfigured}
          clearable
          data={vocabularies.map((w) => ({ value: w, label: words.vocabularies[w] }))}
          value={vocabulary ?? null}
          onChange={(value) => set("words", value ?? undefined)}
        />
      </div>
    </details>
  );
}

function Actions({ onExample, onFile }: { onExample: (text: string) => void; onFile: (file: File | null) => void }) {
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button size="xs" variant="default" rightSection={<Icon name="down" size={14} />}>
            {words.examples}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {examples.map((e) => (
            <Menu.Item key={e.name} onClick={() => onExample(e.text)}>
              {e.name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <FileButton onChange={onFile} accept=".yaml,.yml,.json">
        {(props) => (
          <Button {...props} size="xs" variant="default" leftSection={<Icon name="upload" size={14} />}>
            {words.openFile}
          </Button>
        )}
      </FileButton>
      <Copy text={() => window.location.href} label={words.copyLink} />
    </>
  );
}
