import { Component, type ReactNode } from "react";
import { Button, Code, Group, Stack, Text, Title } from "@mantine/core";

type Props = { children: ReactNode };

// Boundary shows what went wrong in place of a page that broke, and offers a way on.
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
    // A part of the page that cannot be loaded is a part of an older build: the portal was updated meanwhile.
    const outdated = /dynamically imported module|Importing a module script|Unable to preload/i.test(error.message);
    return (
      <Stack p="xl" maw={640} gap="md" role="alert">
        <Title order={1} size="h2">
          {outdated ? "There is a newer version of this page" : "This page broke"}
        </Title>
        <Text>
          {outdated
            ? "A part of it could not be loaded. Reload to get the version the portal has now."
            : "Reload it; if it breaks again, tell whoever runs this portal what you did and what it says below."}
        </Text>
        {!outdated && <Code block>{error.message}</Code>}
        <Group>
          <Button onClick={() => window.location.reload()}>Reload</Button>
          <Button variant="default" component="a" href="/catalog">
            To the catalog
          </Button>
        </Group>
      </Stack>
    );
  }
}
