import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useSession } from "./session";
import { texts } from "../text";

// SignIn is the sign-in form.
export function SignIn() {
  const session = useSession();
  const { methods, state, error } = session;
  return (
    <Paper withBorder p="lg" maw={520} mx="auto" my="lg" role="region" aria-labelledby="signin">
      <Stack>
        <Title order={1} size="h3" id="signin">
          {state === "failed" ? texts.components.error.offline : texts.app.signIn.title}
        </Title>
        {error && (
          <Text size="sm" role="alert">
            {error}
          </Text>
        )}
        {state === "signed-out" && methods.oidc && <Text size="sm">{texts.app.signIn.returns}</Text>}
        {state === "signed-out" && !methods.oidc && !methods.guest && (
          <Text size="sm">{texts.app.signIn.none}</Text>
        )}
        <Group>
          {state === "signed-out" && methods.oidc && <Button onClick={session.signIn}>{texts.app.signIn.button}</Button>}
          {state === "signed-out" && methods.guest && (
            <Button variant={methods.oidc ? "default" : "filled"} onClick={session.continueAsGuest}>
              {texts.app.signIn.guest}
            </Button>
          )}
          {state === "failed" && <Button onClick={session.retry}>{texts.components.retry}</Button>}
        </Group>
      </Stack>
    </Paper>
  );
}
