import { Group, Stack, Text, Title } from "@mantine/core";
import { DataLink } from "../../components/DataLink";
import { RefLink } from "../../components/RefLink";
import { isObject } from "../form/types";
import type { Output } from "./taskLog";
import { texts } from "../../text";
import styles from "./Log.module.css";

const words = texts.create.task;

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// OutputView shows the output of a task: links and texts.
export function OutputView({ output }: { output: Output }) {
  const links = (Array.isArray(output["links"]) ? output["links"] : []).filter(isObject);
  const notes = (Array.isArray(output["text"]) ? output["text"] : []).filter(isObject);
  if (links.length + notes.length === 0) {
    return null;
  }
  return (
    <Stack gap="sm" component="section" aria-label={words.output}>
      <Title order={2} size="h4">
        {words.output}
      </Title>
      {links.length > 0 && (
        <Group gap="md">
          {links.map((link, i) => (
            <OutputLink key={i} link={link} />
          ))}
        </Group>
      )}
      {notes.map((t, i) => (
        <div key={i}>
          {text(t["title"]) !== "" && <Text fw={600}>{text(t["title"])}</Text>}
          <pre className={styles.output}>{text(t["content"])}</pre>
        </div>
      ))}
    </Stack>
  );
}

function OutputLink({ link }: { link: Record<string, unknown> }) {
  const title = text(link["title"]);
  if (typeof link["entityRef"] === "string") {
    return <RefLink to={link["entityRef"]}>{title || link["entityRef"]}</RefLink>;
  }
  return <DataLink url={link["url"]} title={title} relative />;
}
