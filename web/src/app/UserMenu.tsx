import { lazy, Suspense, useState, type ComponentProps } from "react";
import { ActionIcon, Avatar } from "@mantine/core";
import { Icon } from "../components/Icon";
import { texts } from "../text";
import { useSession } from "./session";

const UserDropdown = lazy(() => import("./UserDropdown"));

// UserMenu shows the current user. The menu with sign-in and sign-out is loaded when it is first opened.
export function UserMenu() {
  const [used, setUsed] = useState(false);
  if (!used) {
    return <UserButton aria-haspopup="menu" aria-expanded={false} onClick={() => setUsed(true)} />;
  }
  return (
    <Suspense fallback={<UserButton />}>
      <UserDropdown />
    </Suspense>
  );
}

// UserButton says who is signed in.
export function UserButton(props: ComponentProps<"button">) {
  const session = useSession();
  const label = session.state !== "signed-in" ? texts.app.user.notSignedIn : session.guest ? texts.app.user.browsingAsGuest : texts.app.user.signedInAs(session.name);
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" c="var(--mantine-color-text)" aria-label={label} title={label} {...props}>
      {session.state === "signed-in" && !session.guest ? (
        <Avatar size={24} radius="xl" name={session.name} aria-hidden styles={{ placeholder: { background: "var(--mark)", color: "var(--mantine-color-anchor)" } }} />
      ) : (
        <Icon name="user" />
      )}
    </ActionIcon>
  );
}
