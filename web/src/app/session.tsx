import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { startSession, endSession, SignInError, fetchSignInMethods, onSession, type ActiveSession, type SignInMethods } from "../api/token";
import { texts } from "../text";

// SessionState is the state of the sign-in; failed means that it could not be determined.
export type SessionState = "signing-in" | "signed-in" | "signed-out" | "failed";

export type SessionView = {
  state: SessionState;
  // userRef is the entity reference of the user, such as user:default/ann; empty when signed out.
  userRef: string;
  // name is the display name of the user.
  name: string;
  guest: boolean;
  // ownershipRefs are the references of the user and of the groups they belong to.
  ownershipRefs: string[];
  methods: SignInMethods;
  // generation changes when the user signs out or another user signs in: the page is then rendered anew.
  generation: number;
  // error is the message of the last failure.
  error?: string;
  signIn: () => void;
  continueAsGuest: () => void;
  signOut: () => void;
  retry: () => void;
};

const Context = createContext<SessionView | undefined>(undefined);

// useSession returns the session of the current user.
export function useSession(): SessionView {
  const view = useContext(Context);
  if (!view) {
    throw new Error("useSession must be used inside SessionProvider");
  }
  return view;
}

// currentPath returns the path to return to after sign-in.
function currentPath(): string {
  return window.location.pathname + window.location.search + window.location.hash;
}

// Remember only that the user has signed in: without this flag every guest would start with a failed request.
const signedInKey = "portal-signed-in";

function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(signedInKey) !== null;
  } catch {
    return true;
  }
}

function rememberSignIn(on: boolean) {
  try {
    if (on) {
      localStorage.setItem(signedInKey, "yes");
    } else {
      localStorage.removeItem(signedInKey);
    }
  } catch {
    // Without storage, sign-in is tried every time.
  }
}

// signInSilently starts a session without user interaction if possible: with the previous sign-in, or as a guest.
async function signInSilently(methods: SignInMethods): Promise<void> {
  if (methods.oidc && (wasSignedIn() || !methods.guest)) {
    try {
      await startSession("oidc");
      return;
    } catch (err) {
      if (!(err instanceof SignInError) || err.status >= 500) {
        throw err;
      }
      rememberSignIn(false);
    }
  }
  if (methods.guest) {
    await startSession("guest");
  }
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState>("signing-in");
  const [active, setHeld] = useState<ActiveSession>();
  const [methods, setMethods] = useState<SignInMethods>({ guest: false, oidc: false });
  const [error, setError] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  const [generation, setGeneration] = useState(0);
  const queries = useQueryClient();

  useEffect(
    () =>
      onSession((next, reason) => {
        setHeld(next);
        // What the server says about a token is for programs.
        setError(reason instanceof SignInError && reason.status === 401 ? texts.app.signIn.ended : reason?.message);
        setState(next ? "signed-in" : "signed-out");
      }),
    [],
  );

  useEffect(() => {
    let cancelled = false;
    (async () => {
      try {
        const found = await fetchSignInMethods();
        if (cancelled) {
          return;
        }
        setMethods(found);
        await signInSilently(found);
        if (!cancelled) {
          setState((now) => (now === "signing-in" ? "signed-out" : now));
        }
      } catch (err) {
        if (!cancelled) {
          setError(err instanceof SignInError ? err.message : texts.app.signIn.unreachable);
          setState("failed");
        }
      }
    })();
    return () => {
      cancelled = true;
    };
  }, [attempt]);

  const retry = useCallback(() => {
    setError(undefined);
    setState("signing-in");
    setAttempt((n) => n + 1);
  }, []);

  const view = useMemo<SessionView>(() => {
    const identity = active?.session.portalIdentity.identity;
    const userRef = identity?.userEntityRef ?? "";
    return {
      state,
      userRef,
      name: active?.session.profile.displayName || userRef.replace(/^.*[/:]/, ""),
      guest: active?.method === "guest",
      ownershipRefs: identity?.ownershipEntityRefs ?? [],
      methods,
      generation,
      error,
      signIn: () => {
        rememberSignIn(true);
        window.location.assign(`/api/auth/oidc/start?redirect=${encodeURIComponent(currentPath())}`);
      },
      continueAsGuest: () => {
        setGeneration((n) => n + 1);
        startSession("guest").catch((err: unknown) => setError(err instanceof Error ? err.message : String(err)));
      },
      signOut: () => {
        rememberSignIn(false);
        setGeneration((n) => n + 1);
        endSession()
          .catch((err: unknown) => setError(err instanceof Error ? err.message : String(err)))
          // Drop cached data of the previous user.
          .finally(() => queries.clear());
      },
      retry,
    };
  }, [state, active, methods, generation, error, retry, queries]);

  return <Context value={view}>{children}</Context>;
}
