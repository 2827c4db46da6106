import { useEffect, useRef, useState, type FormEvent } from "react";
import { Kbd, TextInput } from "@mantine/core";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { Icon } from "../parts/Icon";

// Search finds entities from every page: it goes to the catalog, which has a field of its own to go on in.
export function Search() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [params] = useSearchParams();
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const asked = pathname === "/catalog" ? (params.get("q") ?? "") : "";

  useEffect(() => setText(asked), [asked]);

  // A slash from anywhere, unless somebody is writing.
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
        placeholder="Search the catalog"
        aria-label="Search the catalog"
        leftSection={<Icon name="search" />}
        rightSection={<Kbd aria-hidden>/</Kbd>}
        visibleFrom="xs"
        w={{ base: 160, md: 240 }}
      />
    </form>
  );
}
