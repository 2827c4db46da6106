import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useSession } from "./session";

// SignIn is the way in for who is outside.
export function SignIn() {
  const session = useSession();
  const { offers, state, why } = session;
  return (
    <Paper withBorder p="lg" maw={520} mx="auto" my="lg" role="region" aria-labelledby="signin">
      <Stack>
        <Title order={1} size="h3" id="signin">
          {state === "failed" ? "The portal does not answer" : "Sign in"}
        </Title>
        {why && (
          <Text size="sm" role="alert">
            {why}
          </Text>
        )}
        {state === "out" && offers.oidc && <Text size="sm">You come back to where you are now.</Text>}
        {state === "out" && !offers.oidc && !offers.guest && (
          <Text size="sm">Nobody is let in: auth.providers in the configuration of this portal has neither guests nor OpenID Connect.</Text>
        )}
        <Group>
          {state === "out" && offers.oidc && <Button onClick={session.signIn}>Sign in</Button>}
          {state === "out" && offers.guest && (
            <Button variant={offers.oidc ? "default" : "filled"} onClick={session.enterAsGuest}>
              Look around as a guest
            </Button>
          )}
          {state === "failed" && <Button onClick={session.again}>Try again</Button>}
        </Group>
      </Stack>
    </Paper>
  );
}
