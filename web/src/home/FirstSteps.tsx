import { Anchor, List, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { Command } from "../components/Command";
import { Notice } from "../components/Notice";
import { texts } from "../text";
import { useHealth } from "../ingestion/queries";
import { useTemplates } from "./queries";

const words = texts.home.first;

// FirstSteps teaches how to fill a portal that has no Templates yet: operators with commands, everyone else by whom to ask.
export function FirstSteps({ operator }: { operator: boolean }) {
  const templates = useTemplates(6);
  const health = useHealth();
  if (templates.data?.length !== 0 || !health.data) {
    return null;
  }
  if (!operator) {
    return (
      <Notice tone="progress" title={words.emptyTitle}>
        {words.emptyHint}
      </Notice>
    );
  }
  const sources = health.data.sources ?? [];
  return (
    <Notice tone="progress" title={words.title}>
      <Stack gap="sm">
        <List type="ordered" size="sm" spacing="sm">
          {sources.length === 0 && (
            <List.Item>
              {words.addCluster}
              <Command text={words.addClusterConfig} />
            </List.Item>
          )}
          <List.Item>
            {words.label}
            <Command text={words.labelCommand} />
          </List.Item>
          <List.Item>
            {words.check}{" "}
            <Anchor component={Link} to="/ingestion?tab=definitions" inherit>
              {words.definitions}
            </Anchor>
          </List.Item>
        </List>
        <Text size="sm">{words.playground}</Text>
      </Stack>
    </Notice>
  );
}
