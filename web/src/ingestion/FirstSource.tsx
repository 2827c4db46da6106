import { List, Stack, Title } from "@mantine/core";
import { Command } from "../components/Command";
import { Empty } from "../components/State";
import { texts } from "../text";

const words = texts.ingestion.first;

// FirstSource teaches operators how to add the first source, and tells everyone else whom to ask.
export function FirstSource({ operator }: { operator: boolean }) {
  if (!operator) {
    return <Empty title={words.title}>{words.hint}</Empty>;
  }
  return (
    <Stack gap="sm" maw={720} component="section" aria-label={words.steps}>
      <Title order={2} size="h4">
        {words.steps}
      </Title>
      <List type="ordered" size="sm" spacing="md" styles={{ itemWrapper: { display: "block" }, itemLabel: { display: "block" } }}>
        <List.Item>
          {words.cluster}
          <Command text={words.clusterConfig} />
          {words.files}
          <Command text={words.filesConfig} />
        </List.Item>
        <List.Item>
          {words.label}
          <Command text={words.labelCommand} />
        </List.Item>
        <List.Item>{words.restart}</List.Item>
      </List>
    </Stack>
  );
}
