import { Group, Text } from "@mantine/core";
import { Status } from "../components/Status";
import { EntityIcon } from "../components/EntityIcon";
import { Tag } from "../components/Tag";
import { fullRef, useTitle } from "../components/useTitles";
import { texts } from "../text";
import { documentEntity, kindAndType, type Document } from "./queries";
import styles from "./Palette.module.css";

// Preview shows what is known about a result.
export function Preview({ document: d, isForm }: { document: Document; isForm: boolean }) {
  const entity = documentEntity(d);
  const facts: [string, string][] = [
    [texts.search.owner, useRefTitle(d.owner, "group", d.namespace)],
    [texts.search.system, useRefTitle(d.system ?? "", "system", d.namespace)],
  ];
  return (
    <aside className={styles.preview} aria-hidden>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <EntityIcon entity={entity} size={36} />
        <div>
          <Text fw={600} style={{ overflowWrap: "anywhere" }}>
            {d.title || d.name}
          </Text>
          <Text size="xs" c="dimmed">
            {kindAndType(d)}
          </Text>
        </div>
      </Group>
      {d.readiness && <Status entity={entity} />}
      {d.text !== "" && (
        <Text size="sm" lineClamp={6}>
          {d.text}
        </Text>
      )}
      <dl className={styles.facts}>
        {facts
          .filter(([, value]) => value !== "")
          .map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <Group gap={4}>
        {(d.tags ?? [])
          .filter((tag) => !tag.startsWith("source:"))
          .slice(0, 8)
          .map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
      </Group>
      {isForm && (
        <Text size="xs" c="dimmed">
          {texts.search.opensForm}
        </Text>
      )}
    </aside>
  );
}

// useRefTitle returns the title of an entity that a result refers to, or an empty string.
function useRefTitle(text: string, kind: string, namespace: string): string {
  const { title } = useTitle(fullRef(text, { kind, namespace }), text !== "");
  return text === "" ? "" : title;
}
