import { ActionIcon, Menu, Text } from "@mantine/core";
import { Link } from "react-router";
import { Icon } from "../parts/Icon";
import { useSession } from "./session";

// UserMenu says who is looking, and lets them in and out.
export function UserMenu() {
  const session = useSession();
  const label = session.state === "in" ? `You are ${session.guest ? "a guest" : session.name}` : "Not signed in";
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" c="var(--mantine-color-text)" aria-label={label} title={label}>
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown miw={220}>
        <Menu.Label>
          <Text size="sm" c="var(--mantine-color-text)" fw={600}>
            {session.state === "in" ? (session.guest ? "Guest" : session.name) : "Not signed in"}
          </Text>
          {session.who && (
            <Text size="xs" c="dimmed">
              {session.who}
            </Text>
          )}
        </Menu.Label>
        {session.state === "in" && !session.guest && (
          <Menu.Item component={Link} to="/tasks" leftSection={<Icon name="clock" />}>
            My tasks
          </Menu.Item>
        )}
        {session.offers.oidc && (session.guest || session.state !== "in") && (
          <Menu.Item leftSection={<Icon name="right" />} onClick={session.signIn}>
            Sign in
          </Menu.Item>
        )}
        {session.state === "in" && !session.guest && (
          <Menu.Item leftSection={<Icon name="out" />} onClick={session.signOut}>
            Sign out
          </Menu.Item>
        )}
        {session.guest && !session.offers.oidc && (
          <Text size="xs" c="dimmed" px="sm" pb="xs" maw={260}>
            Guests may look at everything. To sign people in, set auth.providers.oidc in the configuration.
          </Text>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
