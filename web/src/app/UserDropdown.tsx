import { Menu, Text } from "@mantine/core";
import { Link } from "react-router";
import { Icon } from "../components/Icon";
import { useSession } from "./session";
import { UserButton } from "./UserMenu";
import { texts } from "../text";

// UserDropdown is the button of the user menu with the open menu.
export default function UserDropdown() {
  const session = useSession();
  return (
    <Menu position="bottom-end" withinPortal={false} defaultOpened>
      <Menu.Target>
        <UserButton />
      </Menu.Target>
      <Menu.Dropdown miw={220}>
        <Menu.Label>
          <Text size="sm" c="var(--mantine-color-text)" fw={600}>
            {session.state === "signed-in" ? (session.guest ? texts.app.user.guest : session.name) : texts.app.user.notSignedIn}
          </Text>
          {session.userRef && (
            <Text size="xs" c="dimmed">
              {session.userRef}
            </Text>
          )}
        </Menu.Label>
        {session.state === "signed-in" && !session.guest && (
          <Menu.Item component={Link} to="/tasks" leftSection={<Icon name="clock" />}>
            {texts.app.user.myTasks}
          </Menu.Item>
        )}
        {session.methods.oidc && (session.guest || session.state !== "signed-in") && (
          <Menu.Item leftSection={<Icon name="right" />} onClick={session.signIn}>
            {texts.app.signIn.button}
          </Menu.Item>
        )}
        {session.state === "signed-in" && !session.guest && (
          <Menu.Item leftSection={<Icon name="out" />} onClick={session.signOut}>
            {texts.app.user.signOut}
          </Menu.Item>
        )}
        {session.guest && !session.methods.oidc && (
          <Text size="xs" c="dimmed" px="sm" pb="xs" maw={260}>
            {texts.app.signIn.guestsOnly}
          </Text>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
