import { useEffect, useRef, type ReactNode } from "react";
import { AppShell, Box, Burger, Container, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useLocation } from "react-router";
import { Loading } from "../components/State";
import { SearchProvider } from "../search/SearchProvider";
import { texts } from "../text";
import { Brand } from "./Brand";
import { NavLinks, ShortcutsButton, StarredLinks } from "./NavLinks";
import { Offline } from "./Offline";
import { ThemeToggle } from "./ThemeToggle";
import { Search } from "./Search";
import { SignIn } from "./SignIn";
import { useSession } from "./session";
import { UserMenu } from "./UserMenu";
import styles from "./Frame.module.css";

// Frame is the layout around every page: navigation, header and content. The navigation is a sidebar on wide screens, a
// rail of icons on medium ones, and opens from the header on narrow ones.
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
    <SearchProvider>
      <AppShell
        layout="alt"
        header={{ height: 52 }}
        navbar={{ width: { base: "100%", sm: 60, lg: 224 }, breakpoint: "sm", collapsed: { mobile: !open } }}
        padding={{ base: "md", lg: "lg" }}
      >
        <a href="#main" className={styles.skip}>
          {texts.app.skip}
        </a>
        <AppShell.Navbar className={`${styles.navbar ?? ""} ${open ? "" : (styles.closed ?? "")}`} aria-label={texts.app.navigation}>
          <Group className={styles.brandRow} justify="space-between" wrap="nowrap">
            <Brand onGo={close} />
            <Burger opened onClick={close} hiddenFrom="sm" size="sm" aria-label={texts.app.closeNavigation} />
          </Group>
          <NavLinks onGo={close} />
          <StarredLinks onGo={close} />
          <ShortcutsButton />
        </AppShell.Navbar>
        <AppShell.Header className={styles.header}>
          <Group h="100%" px={{ base: "md", lg: "lg" }} gap="xs" wrap="nowrap">
            <Burger opened={false} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={texts.app.openNavigation} aria-expanded={open} />
            <Box hiddenFrom="sm" miw={0} flex="0 1 auto">
              <Brand />
            </Box>
            <Search />
            <Box flex={1} />
            <ThemeToggle />
            <UserMenu />
          </Group>
        </AppShell.Header>
        <AppShell.Main id="main" ref={main} tabIndex={-1} className={styles.main}>
          <Container size={1440} px={0}>
            <Offline />
            <Content key={session.generation} state={session.state}>{children}</Content>
          </Container>
        </AppShell.Main>
      </AppShell>
    </SearchProvider>
  );
}

// Content shows the page or the sign-in form. A page that was open stays below the form, so that no input is lost.
function Content({ state, children }: { state: string; children: ReactNode }) {
  const wasSignedIn = useRef(false);
  if (state === "signed-in") {
    wasSignedIn.current = true;
  }
  if (state === "signing-in" && !wasSignedIn.current) {
    return <Loading label={texts.app.signingIn} />;
  }
  return (
    <>
      {state !== "signed-in" && state !== "signing-in" && <SignIn />}
      {wasSignedIn.current && children}
    </>
  );
}
