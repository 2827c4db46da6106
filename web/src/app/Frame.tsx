import { useEffect, useRef, type ReactNode } from "react";
import { Anchor, AppShell, Box, Burger, Container, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, NavLink, useLocation } from "react-router";
import { Icon, type IconName } from "../parts/Icon";
import { Loading } from "../parts/State";
import { Colors } from "./Colors";
import { Search } from "./Search";
import { SignIn } from "./SignIn";
import { useSession } from "./session";
import { UserMenu } from "./UserMenu";
import styles from "./Frame.module.css";

// also is where else one is in a place.
const places: { to: string; also?: string; label: string; icon: IconName }[] = [
  { to: "/catalog", label: "Catalog", icon: "catalog" },
  { to: "/create", also: "/tasks", label: "Create", icon: "create" },
  { to: "/ingestion", label: "Ingestion", icon: "ingestion" },
  { to: "/playground", label: "Playground", icon: "playground" },
];

// title is what this portal calls itself, as the server wrote it into the page.
const title = document.title;

function Places({ onGo }: { onGo?: () => void }) {
  const { pathname } = useLocation();
  const within = (to: string | undefined) => to !== undefined && (pathname === to || pathname.startsWith(`${to}/`));
  return (
    <>
      {places.map((p) => (
        <NavLink key={p.to} to={p.to} className={({ isActive }) => `${styles.place ?? ""} ${isActive || within(p.also) ? "active" : ""}`} onClick={onGo}>
          <Icon name={p.icon} />
          {p.label}
        </NavLink>
      ))}
    </>
  );
}

// Frame is what stands around every page.
export function Frame({ children }: { children: ReactNode }) {
  const [open, { toggle, close }] = useDisclosure(false);
  const session = useSession();
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const first = useRef(true);

  // Who goes to another page by keyboard or with a screen reader goes on from its beginning.
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <AppShell header={{ height: 56 }} navbar={{ width: 240, breakpoint: "sm", collapsed: { desktop: true, mobile: !open } }} padding="md">
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="md" wrap="nowrap">
          <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={open ? "Close the navigation" : "Open the navigation"} />
          <Anchor component={Link} to="/catalog" underline="never" c="inherit" className={styles.title}>
            <Text component="span" fw={700} truncate>
              {title}
            </Text>
          </Anchor>
          <Group component="nav" gap={4} visibleFrom="sm" wrap="nowrap" aria-label="Pages">
            <Places />
          </Group>
          <Box flex={1} />
          <Search />
          <Colors />
          <UserMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Pages" hiddenFrom="sm">
        {open && <Places onGo={close} />}
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <Container size={1600} px={0}>
          <Content key={session.era} state={session.state}>{children}</Content>
        </Container>
      </AppShell.Main>
    </AppShell>
  );
}

// Content is the page, or the way in. A page that was open stays as it is below the question to sign in, so that nothing
// typed is lost.
function Content({ state, children }: { state: string; children: ReactNode }) {
  const been = useRef(false);
  if (state === "in") {
    been.current = true;
  }
  if (state === "entering" && !been.current) {
    return <Loading label="Finding out who you are" />;
  }
  return (
    <>
      {state !== "in" && state !== "entering" && <SignIn />}
      {been.current && children}
    </>
  );
}
