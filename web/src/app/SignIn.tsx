import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useSession } from "./session";

// SignIn is the sign-in form.
export function SignIn() {
  const session = useSession();
  const { methods, state, error } = session;
  return (
    <Paper withBorder p="lg" maw={520} mx="auto" my="lg" role="region" aria-labelledby="signin">
      <Stack>
        <Title order={1} size="h3" id="signin">
          {state === "failed" ? "No connection to the portal" : "Sign in"}
        </Title>
        {error && (
          <Text size="sm" role="alert">
            {error}
          </Text>
        )}
        {state === "signed-out" && methods.oidc && <Text size="sm">You will return to this page.</Text>}
        {state === "signed-out" && !methods.oidc && !methods.guest && (
          <Text size="sm">No sign-in method is configured. Ask your administrator.</Text>
        )}
        <Group>
          {state === "signed-out" && methods.oidc && <Button onClick={session.signIn}>Sign in</Button>}
          {state === "signed-out" && methods.guest && (
            <Button variant={methods.oidc ? "default" : "filled"} onClick={session.continueAsGuest}>
              Continue as guest
            </Button>
          )}
          {state === "failed" && <Button onClick={session.retry}>Retry</Button>}
        </Group>
      </Stack>
    </Paper>
  );
}
