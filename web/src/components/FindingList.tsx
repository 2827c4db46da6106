import { Text, UnstyledButton } from "@mantine/core";
import { Tag, type Tone } from "./Tag";
import { texts } from "../text";
import styles from "./FindingList.module.css";

const words = texts.components.findings;

export type Severity = "error" | "warning" | "info";

// Position is a place in a text. Without a line, it is not known.
export type Position = { line?: number; column?: number };

type Item = Position & {
  rule: string;
  severity: Severity;
  message: string;
  hint?: string;
  // subject is what the finding is about, such as the path of a field.
  subject?: string;
};

const tones: Record<Severity, Tone> = { error: "error", warning: "warning", info: "plain" };

type Props<T> = {
  // label names the list for screen readers.
  label: string;
  items: T[];
  // severities are the words for the severities.
  severities?: Record<Severity, string>;
  // onGo makes items with a line buttons.
  onGo?: (item: T) => void;
};

// FindingList is a list of findings. Those with a line link to it.
export function FindingList<T extends Item>({ label, items, severities = words.severity, onGo }: Props<T>) {
  return (
    <ul className={styles.list} aria-label={label}>
      {items.map((item, i) => (
        <li key={`${i} ${item.rule}`}>
          {onGo && item.line ? (
            <UnstyledButton className={styles.finding} onClick={() => onGo(item)}>
              <Content item={item} severity={severities[item.severity]} line={item.line} />
            </UnstyledButton>
          ) : (
            <div className={styles.finding}>
              <Content item={item} severity={severities[item.severity]} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

function Content({ item, severity, line }: { item: Item; severity: string; line?: number }) {
  return (
    <>
      <span className={styles.head}>
        <Tag tone={tones[item.severity]}>{severity}</Tag>{" "}
        <Text component="span" size="sm" ff="monospace">
          {item.rule}
        </Text>{" "}
        {item.subject && (
          <Text component="span" size="sm" ff="monospace" fw={500}>
            {item.subject}
          </Text>
        )}{" "}
        {line !== undefined && (
          <Text component="span" size="sm" c="dimmed">
            {words.line(line)}
          </Text>
        )}
      </span>
      <Text size="sm">{item.message}</Text>
      {item.hint && (
        <Text size="sm" c="dimmed">
          {item.hint}
        </Text>
      )}
    </>
  );
}
