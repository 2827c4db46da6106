import { useEffect, useRef, useState, type FormEvent } from "react";
import { Kbd, TextInput } from "@mantine/core";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { Icon } from "../components/Icon";
import { texts } from "../text";

// Search is the search field on all pages but the catalog. It opens the catalog, which has its own field.
export function Search() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [params] = useSearchParams();
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const asked = pathname === "/catalog" ? (params.get("q") ?? "") : "";

  useEffect(() => setText(asked), [asked]);

  // The slash key focuses the field, unless the user is typing.
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const on = e.target as HTMLElement | null;
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || on?.closest("input, textarea, select, [contenteditable]")) {
        return;
      }
      e.preventDefault();
      (document.querySelector<HTMLInputElement>("[data-search]") ?? field.current)?.focus();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);

  if (pathname === "/catalog") {
    return null;
  }
  const submit = (e: FormEvent) => {
    e.preventDefault();
    navigate(text.trim() === "" ? "/catalog" : `/catalog?q=${encodeURIComponent(text.trim())}`);
  };
  return (
    <form role="search" onSubmit={submit}>
      <TextInput
        ref={field}
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
        placeholder={texts.app.notFound.search}
        aria-label={texts.app.notFound.search}
        leftSection={<Icon name="search" />}
        rightSection={<Kbd aria-hidden>/</Kbd>}
        visibleFrom="xs"
        w={{ base: 160, md: 240 }}
      />
    </form>
  );
}
