import { useCallback, useEffect, useRef, useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { useLocation, useNavigate } from "react-router";
import { examples } from "./examples";
import { hashOf, pack, packedIn, TooLong, unpack } from "./link";

// Draft is the text somebody works on. It is in the address as soon as they stop typing, if it fits there.
export type Draft = {
  // text is undefined while it is being unpacked.
  text: string | undefined;
  setText: (text: string) => void;
  // trouble says why the address is not a link to the text, or why its link could not be read.
  trouble?: string;
};

const kept = "portal-playground";

// remembered is what was there before a reload that the address could not keep.
function remembered(): string | undefined {
  return sessionStorage.getItem(kept) ?? undefined;
}

function remember(text: string) {
  try {
    sessionStorage.setItem(kept, text);
  } catch {
    // There is no room; the address has it, or the page says that it is too long.
  }
}

// useAddress returns the parameters of the address, and what changes one of them. The text behind the # stays.
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
  // written is the packed text that this page put into the address, or took from it.
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
          setTrouble("The link is damaged, so its text cannot be shown. Ask whoever sent it for the file.");
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
    remember(settled);
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
          setTrouble(err instanceof TooLong ? err.message : "The text cannot be put into a link.");
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
