import { Component, type ReactNode } from "react";
import { Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { checkConnection, onConnection } from "../api/connection";
import { texts } from "../text";

type Props = { children: ReactNode };

// Boundary shows an error message and a way to continue in place of a page that failed to render.
export class Boundary extends Component<Props, { error?: Error }> {
  override state: { error?: Error } = {};
  private stop?: () => void;

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidCatch(error: Error) {
    if (!isLoadError(error)) {
      return;
    }
    // Nothing was entered yet: load the page as soon as the portal is back.
    this.stop = onConnection(({ online }) => online && window.location.reload());
    void checkConnection();
  }

  override componentWillUnmount() {
    this.stop?.();
  }

  override render() {
    const { error } = this.state;
    if (!error) {
      return this.props.children;
    }
    const words = texts.app.failure;
    const load = isLoadError(error);
    return (
      <Stack maw={640} gap="md" role="alert">
        <Title order={1}>{load ? words.loadTitle : words.title}</Title>
        <Text>{load ? words.loadAdvice : words.advice}</Text>
        {!load && <Code block>{error.message}</Code>}
        <Group>
          <Button onClick={() => window.location.reload()}>{words.reload}</Button>
          <Button variant="default" component="a" href="/">
            {words.goHome}
          </Button>
        </Group>
      </Stack>
    );
  }
}

// isLoadError reports whether a part of the page could not be loaded: the portal is away, or was updated meanwhile.
function isLoadError(error: Error): boolean {
  return /dynamically imported module|Importing a module script|Unable to preload/i.test(error.message);
}
