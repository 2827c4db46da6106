import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { enter, leave, NotLetIn, offers as askOffers, onSession, type Held, type Offers } from "../api/token";

// SessionState is where somebody stands: on the way in, in, outside, or unable to find out.
export type SessionState = "entering" | "in" | "out" | "failed";

export type SessionView = {
  state: SessionState;
  // who is the reference of the user, such as user:default/ann; empty for nobody.
  who: string;
  // name is what to call them.
  name: string;
  guest: boolean;
  // owns are the references of the groups they belong to, and of themselves.
  owns: string[];
  offers: Offers;
  // era changes when somebody leaves or comes as somebody else: what was on the page is not for them.
  era: number;
  // why says what went wrong, if something did.
  why?: string;
  signIn: () => void;
  enterAsGuest: () => void;
  signOut: () => void;
  again: () => void;
};

const Context = createContext<SessionView | undefined>(undefined);

// useSession says who is looking.
export function useSession(): SessionView {
  const view = useContext(Context);
  if (!view) {
    throw new Error("useSession is called outside of SessionProvider");
  }
  return view;
}

// here is the path to come back to.
function here(): string {
  return window.location.pathname + window.location.search + window.location.hash;
}

// The browser remembers that somebody has signed in, and no more: without it every guest would begin with a refusal.
const mark = "portal-signed-in";

function marked(): boolean {
  try {
    return localStorage.getItem(mark) !== null;
  } catch {
    return true;
  }
}

function setMark(on: boolean) {
  try {
    if (on) {
      localStorage.setItem(mark, "yes");
    } else {
      localStorage.removeItem(mark);
    }
  } catch {
    // Without storage it is tried each time.
  }
}

// come gets somebody in without a question, if there is a way: as who they were, or as a guest.
async function come(ways: Offers): Promise<void> {
  if (ways.oidc && (marked() || !ways.guest)) {
    try {
      await enter("oidc");
      return;
    } catch (err) {
      if (!(err instanceof NotLetIn) || err.status >= 500) {
        throw err;
      }
      setMark(false);
    }
  }
  if (ways.guest) {
    await enter("guest");
  }
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState>("entering");
  const [held, setHeld] = useState<Held>();
  const [ways, setWays] = useState<Offers>({ guest: false, oidc: false });
  const [why, setWhy] = useState<string>();
  const [turn, setTurn] = useState(0);
  const [era, setEra] = useState(0);
  const queries = useQueryClient();

  useEffect(
    () =>
      onSession((next, reason) => {
        setHeld(next);
        setWhy(reason?.message);
        setState(next ? "in" : "out");
      }),
    [],
  );

  useEffect(() => {
    let gone = false;
    (async () => {
      try {
        const found = await askOffers();
        if (gone) {
          return;
        }
        setWays(found);
        await come(found);
        if (!gone) {
          setState((now) => (now === "entering" ? "out" : now));
        }
      } catch (err) {
        if (!gone) {
          setWhy(err instanceof NotLetIn ? err.message : "The portal does not answer. Check that it runs, then try again.");
          setState("failed");
        }
      }
    })();
    return () => {
      gone = true;
    };
  }, [turn]);

  const again = useCallback(() => {
    setWhy(undefined);
    setState("entering");
    setTurn((n) => n + 1);
  }, []);

  const view = useMemo<SessionView>(() => {
    const identity = held?.session.portalIdentity.identity;
    const who = identity?.userEntityRef ?? "";
    return {
      state,
      who,
      name: held?.session.profile.displayName || who.replace(/^.*[/:]/, ""),
      guest: held?.how === "guest",
      owns: identity?.ownershipEntityRefs ?? [],
      offers: ways,
      era,
      why,
      signIn: () => {
        setMark(true);
        window.location.assign(`/api/auth/oidc/start?redirect=${encodeURIComponent(here())}`);
      },
      enterAsGuest: () => {
        setEra((n) => n + 1);
        enter("guest").catch((err: unknown) => setWhy(err instanceof Error ? err.message : String(err)));
      },
      signOut: () => {
        setMark(false);
        setEra((n) => n + 1);
        leave()
          .catch((err: unknown) => setWhy(err instanceof Error ? err.message : String(err)))
          // What one person saw is not for the next.
          .finally(() => queries.clear());
      },
      again,
    };
  }, [state, held, ways, era, why, again, queries]);

  return <Context value={view}>{children}</Context>;
}
