import { Text, UnstyledButton } from "@mantine/core";
import { Icon } from "../../components/Icon";
import { texts } from "../../text";
import type { Entry } from "./sections";
import type { Problem } from "./types";
import styles from "./Form.module.css";

const words = texts.create.form;

// Contents is the table of contents of a long page: each entry leads to its field and shows whether it has errors.
export function Contents({ entries, problems, onGo }: { entries: Entry[]; problems: Problem[]; onGo: (name: string) => void }) {
  const wrong = new Set(problems.map((p) => String(p.path[0])));
  return (
    <nav aria-label={words.contents} className={styles.contents}>
      <Text size="sm" fw={600} component="h2">
        {words.contents}
      </Text>
      <ul>
        {entries.map((e) => (
          <li key={e.name}>
            <UnstyledButton className={styles.content} data-section={e.section || undefined} onClick={() => onGo(e.name)}>
              <span>{e.title}</span>
              {wrong.has(e.name) && (
                <span className={styles.wrongMark} role="img" aria-label={words.hasErrors}>
                  <Icon name="error" size={14} />
                </span>
              )}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </nav>
  );
}
