import { createContext, lazy, Suspense, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { useNavigate } from "react-router";

const Palette = lazy(() => import("./Palette"));
const Shortcuts = lazy(() => import("./Shortcuts"));

type Dialog = "palette" | "shortcuts" | undefined;

const Context = createContext<(dialog: Dialog) => void>(() => undefined);

// useDialog returns a function that opens the palette or the list of shortcuts.
export function useDialog(): (dialog: Dialog) => void {
  return useContext(Context);
}

// Pages that g and a letter lead to.
const jumps: Record<string, string> = { h: "/", c: "/catalog", n: "/create", t: "/tasks", i: "/ingestion", p: "/playground" };

// sequence is the time in milliseconds in which the second key of two must follow.
const sequence = 1_000;

// isTyping reports whether a key belongs to a field.
function isTyping(e: KeyboardEvent): boolean {
  return (e.target as HTMLElement | null)?.closest?.("input, textarea, select, [contenteditable], [role=textbox]") != null;
}

// SearchProvider listens for the shortcuts of the portal and shows their dialogs.
export function SearchProvider({ children }: { children: ReactNode }) {
  const [dialog, setDialog] = useState<Dialog>();
  const navigate = useNavigate();

  useEffect(() => {
    let gAt = -Infinity;
    const press = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") {
        e.preventDefault();
        setDialog((now) => (now === "palette" ? undefined : "palette"));
        return;
      }
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || isTyping(e)) {
        return;
      }
      const second = e.timeStamp - gAt < sequence;
      gAt = e.key === "g" ? e.timeStamp : -Infinity;
      const to = second ? jumps[e.key] : undefined;
      if (to) {
        navigate(to);
      } else if (e.key === "?") {
        setDialog("shortcuts");
      } else if (e.key === "/") {
        e.preventDefault();
        const field = document.querySelector<HTMLInputElement>("[data-search]");
        if (field) {
          field.focus();
        } else {
          setDialog("palette");
        }
      }
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [navigate]);

  const close = useMemo(() => () => setDialog(undefined), []);
  return (
    <Context value={setDialog}>
      {children}
      <Suspense fallback={null}>
        {dialog === "palette" && <Palette onClose={close} />}
        {dialog === "shortcuts" && <Shortcuts onClose={close} />}
      </Suspense>
    </Context>
  );
}
