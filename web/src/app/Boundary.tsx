import { Component, type ReactNode } from "react";
import { Button, Code, Group, Stack, Text, Title } from "@mantine/core";

type Props = { children: ReactNode };

// Boundary shows an error message and a way to continue in place of a page that failed to render.
export class Boundary extends Component<Props, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) {
      return this.props.children;
    }
    // A chunk that cannot be loaded belongs to an older build: the portal was updated in the meantime.
    const outdated = /dynamically imported module|Importing a module script|Unable to preload/i.test(error.message);
    return (
      <Stack p="xl" maw={640} gap="md" role="alert">
        <Title order={1} size="h2">
          {outdated ? "A new version is available" : "Something went wrong"}
        </Title>
        <Text>
          {outdated
            ? "Part of this page could not be loaded. Reload to get the current version."
            : "Reload the page. If the error persists, send your administrator the message below and describe what you did."}
        </Text>
        {!outdated && <Code block>{error.message}</Code>}
        <Group>
          <Button onClick={() => window.location.reload()}>Reload</Button>
          <Button variant="default" component="a" href="/catalog">
            Go to catalog
          </Button>
        </Group>
      </Stack>
    );
  }
}
