import { Group, Stack, Text, Title } from "@mantine/core";
import { DataLink } from "../../parts/DataLink";
import { RefLink } from "../../parts/Ref";
import { isObject } from "../form/types";
import type { Output } from "./journal";
import styles from "./Log.module.css";

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// OutputView is what came of a task: links and texts.
export function OutputView({ output }: { output: Output }) {
  const links = (Array.isArray(output["links"]) ? output["links"] : []).filter(isObject);
  const texts = (Array.isArray(output["text"]) ? output["text"] : []).filter(isObject);
  if (links.length + texts.length === 0) {
    return null;
  }
  return (
    <Stack gap="sm" component="section" aria-label="What came of it">
      <Title order={2} size="h4">
        What came of it
      </Title>
      {links.length > 0 && (
        <Group gap="md">
          {links.map((link, i) => (
            <OneLink key={i} link={link} />
          ))}
        </Group>
      )}
      {texts.map((t, i) => (
        <div key={i}>
          {text(t["title"]) !== "" && <Text fw={600}>{text(t["title"])}</Text>}
          <pre className={styles.output}>{text(t["content"])}</pre>
        </div>
      ))}
    </Stack>
  );
}

function OneLink({ link }: { link: Record<string, unknown> }) {
  const title = text(link["title"]);
  if (typeof link["entityRef"] === "string") {
    return <RefLink to={link["entityRef"]}>{title || link["entityRef"]}</RefLink>;
  }
  return <DataLink url={link["url"]} title={title} relative />;
}
