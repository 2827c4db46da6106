import { useCallback, useEffect, useRef, useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { useLocation, useNavigate } from "react-router";
import { examples } from "./examples";
import { texts } from "../text";
import { hashOf, pack, packedIn, TextTooLong, unpack } from "./link";

// Draft is the edited text. It is stored in the URL when the user stops typing, if it fits.
export type Draft = {
  // text is undefined while it is decoded from the URL.
  text: string | undefined;
  setText: (text: string) => void;
  // trouble tells why the URL does not hold the text, or could not be decoded.
  trouble?: string;
};

const kept = "portal-playground";

// remembered returns a text from before a reload that did not fit into the URL.
function remembered(): string | undefined {
  return sessionStorage.getItem(kept) ?? undefined;
}

// rememberDraft stores a text that the playground opens if its URL holds none. It returns false if the storage is full.
export function rememberDraft(text: string): boolean {
  try {
    sessionStorage.setItem(kept, text);
    return true;
  } catch {
    return false;
  }
}

// useAddress returns the query parameters of the URL and setters for a parameter and for the hash.
export function useAddress(): [URLSearchParams, (name: string, value: string | undefined) => void, (hash: string) => void] {
  const location = useLocation();
  const navigate = useNavigate();
  const now = useRef(location);
  useEffect(() => {
    now.current = location;
  }, [location]);
  const go = useCallback(
    (to: { search: string; hash: string }) => {
      now.current = { ...now.current, ...to };
      void navigate(to, { replace: true, preventScrollReset: true });
    },
    [navigate],
  );
  const set = useCallback(
    (name: string, value: string | undefined) => {
      const params = new URLSearchParams(now.current.search);
      if (value === undefined) {
        params.delete(name);
      } else {
        params.set(name, value);
      }
      const text = params.toString();
      go({ search: text === "" ? "" : `?${text}`, hash: now.current.hash });
    },
    [go],
  );
  const setHash = useCallback((hash: string) => go({ search: now.current.search, hash }), [go]);
  return [new URLSearchParams(location.search), set, setHash];
}

export function useDraft(setHash: (hash: string) => void): Draft {
  const { hash } = useLocation();
  const [text, setText] = useState<string | undefined>(() => (packedIn(hash) === undefined ? (remembered() ?? examples[0].text) : undefined));
  const [trouble, setTrouble] = useState<string>();
  // written is the encoded text that this page wrote to the URL or read from it.
  const written = useRef<string>(undefined);
  const [settled] = useDebouncedValue(text, 500);
  const typed = useRef(false);

  useEffect(() => {
    const packed = packedIn(hash);
    if (packed === undefined || packed === written.current) {
      return;
    }
    let gone = false;
    unpack(packed)
      .then((found) => {
        if (!gone) {
          written.current = packed;
          setText(found);
          setTrouble(undefined);
        }
      })
      .catch(() => {
        if (!gone) {
          setText((now) => now ?? examples[0].text);
          setTrouble(texts.playground.linkDamaged);
        }
      });
    return () => {
      gone = true;
    };
  }, [hash]);

  useEffect(() => {
    if (settled === undefined || !typed.current) {
      return;
    }
    // If the storage is full, the URL holds the text, or the page reports that it is too long.
    rememberDraft(settled);
    let gone = false;
    pack(settled)
      .then((packed) => {
        if (!gone && packed !== written.current) {
          written.current = packed;
          setTrouble(undefined);
          setHash(hashOf(packed));
        }
      })
      .catch((err: unknown) => {
        if (!gone) {
          written.current = "";
          setHash("");
          setTrouble(err instanceof TextTooLong ? err.message : texts.playground.linkFailed);
        }
      });
    return () => {
      gone = true;
    };
  }, [settled, setHash]);

  return {
    text,
    setText: useCallback((next: string) => {
      typed.current = true;
      setText(next);
    }, []),
    trouble,
  };
}
