import { lazy, Suspense, useState, type DragEvent } from "react";
import { Kbd, Text } from "@mantine/core";
import { Loading } from "../components/State";
import { texts } from "../text";
import type { Draft } from "./draft";
import type { Jump } from "./Editor";
import type { Finding } from "./preview";
import styles from "./Playground.module.css";

const Editor = lazy(() => import("./Editor"));
const words = texts.playground;

// keysId is the id of the keyboard hints.
const keysId = "editor-keys";
const mod = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";

// Source is the editor, which also accepts a dropped file.
export function Source({ draft, findings, jump, onFile }: { draft: Draft; findings: Finding[]; jump?: Jump; onFile: (file: File | undefined) => void }) {
  const [dropping, setDropping] = useState(false);
  const drop = (event: DragEvent) => {
    setDropping(false);
    if (event.dataTransfer.files.length > 0) {
      // By default, the editor would insert the file at the pointer.
      event.preventDefault();
      event.stopPropagation();
      onFile(event.dataTransfer.files[0]);
    }
  };
  return (
    <section
      aria-label={words.editor}
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
          <Loading label={words.openingLink} />
        ) : (
          <Suspense fallback={<Loading label={words.loadingEditor} lines={8} />}>
            <Editor text={draft.text} onChange={draft.setText} findings={findings} jump={jump} describedBy={keysId} />
          </Suspense>
        )}
      </div>
      <Text size="xs" c="dimmed" id={keysId} className={styles.keys}>
        {words.keys.leave} <Kbd size="xs">{mod}</Kbd> <Kbd size="xs">]</Kbd> {words.keys.and} <Kbd size="xs">[</Kbd> {words.keys.indent} <Kbd size="xs">F8</Kbd> {words.keys.next}
      </Text>
    </section>
  );
}
