import { useEffect, useRef, type ReactNode } from "react";
import { Anchor, AppShell, Box, Burger, Container, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, NavLink, useLocation } from "react-router";
import { Icon, type IconName } from "../components/Icon";
import { Loading } from "../components/State";
import { ThemeToggle } from "./ThemeToggle";
import { Search } from "./Search";
import { SignIn } from "./SignIn";
import { useSession } from "./session";
import { UserMenu } from "./UserMenu";
import styles from "./Frame.module.css";

// also is another path for which the item is active.
const navItems: { to: string; also?: string; label: string; icon: IconName }[] = [
  { to: "/catalog", label: "Catalog", icon: "catalog" },
  { to: "/create", also: "/tasks", label: "Create", icon: "create" },
  { to: "/ingestion", label: "Ingestion", icon: "ingestion" },
  { to: "/playground", label: "Playground", icon: "playground" },
];

// title is the title of the portal, which the server wrote into the page.
const title = document.title;

function NavLinks({ onGo }: { onGo?: () => void }) {
  const { pathname } = useLocation();
  const within = (to: string | undefined) => to !== undefined && (pathname === to || pathname.startsWith(`${to}/`));
  return (
    <>
      {navItems.map((p) => (
        <NavLink key={p.to} to={p.to} className={({ isActive }) => `${styles.navLink ?? ""} ${isActive || within(p.also) ? "active" : ""}`} onClick={onGo}>
          <Icon name={p.icon} />
          {p.label}
        </NavLink>
      ))}
    </>
  );
}

// Frame is the layout around every page: header, navigation and content.
export function Frame({ children }: { children: ReactNode }) {
  const [open, { toggle, close }] = useDisclosure(false);
  const session = useSession();
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const first = useRef(true);

  // After navigation, keyboard and screen reader users continue at the start of the new page.
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
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="md" wrap="nowrap">
          <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={open ? "Close navigation" : "Open navigation"} />
          <Anchor component={Link} to="/catalog" underline="never" c="inherit" className={styles.title}>
            <Text component="span" fw={700} truncate>
              {title}
            </Text>
          </Anchor>
          <Group component="nav" gap={4} visibleFrom="sm" wrap="nowrap" aria-label="Main navigation">
            <NavLinks />
          </Group>
          <Box flex={1} />
          <Search />
          <ThemeToggle />
          <UserMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Main navigation" hiddenFrom="sm">
        {open && <NavLinks onGo={close} />}
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <Container size={1600} px={0}>
          <Content key={session.generation} state={session.state}>{children}</Content>
        </Container>
      </AppShell.Main>
    </AppShell>
  );
}

// Content shows the page or the sign-in form. A page that was open stays below the form, so that no input is lost.
function Content({ state, children }: { state: string; children: ReactNode }) {
  const wasSignedIn = useRef(false);
  if (state === "signed-in") {
    wasSignedIn.current = true;
  }
  if (state === "signing-in" && !wasSignedIn.current) {
    return <Loading label="Signing in" />;
  }
  return (
    <>
      {state !== "signed-in" && state !== "signing-in" && <SignIn />}
      {wasSignedIn.current && children}
    </>
  );
}
