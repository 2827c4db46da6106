import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { CloseButton, Kbd, Modal, Text, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue, useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "react-router";
import { useSession } from "../app/session";
import { Icon } from "../components/Icon";
import { useStarred } from "../settings/starred";
import { texts } from "../text";
import { documentItem, pageItems, starredItem, taskItems, type Item } from "./items";
import { Preview } from "./Preview";
import { useRecentTasks, useSearch } from "./queries";
import styles from "./Palette.module.css";

// pause is the debounce time of the search in milliseconds.
const pause = 120;

// useItems returns the lines for a term: results first; without a term, what the user starred, and the pages.
function useItems(term: string) {
  const { guest } = useSession();
  const search = useSearch(term);
  const tasks = useRecentTasks(50, !guest);
  const starred = useStarred(term === "");
  const items = useMemo(() => {
    const recent = tasks.data?.tasks ?? [];
    if (term === "") {
      return [...(starred ?? []).map(starredItem), ...pageItems(""), ...taskItems(recent, "")];
    }
    return [...(search.data?.results ?? []).map((r) => documentItem(r.document)), ...pageItems(term), ...taskItems(recent, term)];
  }, [term, search.data, tasks.data, starred]);
  return { items, failed: search.isError, busy: search.isFetching || search.isPlaceholderData, total: search.data?.numberOfResults ?? 0 };
}

// Palette searches everything and opens what is chosen.
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const id = useId();
  const [typed, setTyped] = useState("");
  const [term] = useDebouncedValue(typed.trim(), pause);
  const { items, failed, busy, total } = useItems(term);
  const [chosen, setChosen] = useState(0);
  const narrow = useMediaQuery("(max-width: 48em)");
  const list = useRef<HTMLDivElement>(null);
  const current = items[Math.min(chosen, items.length - 1)];

  useEffect(() => setChosen(0), [term]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const open = (to: string) => {
    onClose();
    navigate(to);
  };
  const all = `/catalog?${new URLSearchParams({ q: typed.trim(), all: "true" })}`;

  const press = (e: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
    const to = moves[e.key];
    if (to !== undefined) {
      e.preventDefault();
      setChosen((to + items.length) % Math.max(items.length, 1));
    } else if (e.key === "Enter" && !e.nativeEvent.isComposing) {
      e.preventDefault();
      // Results of an earlier term are not opened by mistake.
      if (typed.trim() !== term || busy) {
        return;
      }
      open(current ? (e.shiftKey && current.details) || current.to : all);
    }
  };

  return (
    <Modal.Root opened onClose={onClose} size={860} yOffset="10dvh">
      <Modal.Overlay />
      <Modal.Content aria-label={texts.search.title} radius="lg">
        <div className={styles.dialog}>
          <div className={styles.field}>
            <Icon name="search" />
            <input
              data-autofocus
              autoFocus
              type="text"
              role="combobox"
              aria-expanded
              aria-controls={`${id}-list`}
              aria-activedescendant={current && `${id}-${current.id}`}
              aria-label={texts.search.field}
              placeholder={narrow ? texts.search.title : texts.search.hint}
              value={typed}
              onChange={(e) => setTyped(e.currentTarget.value)}
              onKeyDown={press}
              maxLength={200}
              spellCheck={false}
              autoComplete="off"
            />
            <Kbd visibleFrom="sm">Esc</Kbd>
            <CloseButton hiddenFrom="sm" size={44} iconSize={20} mr={-12} aria-label={texts.search.keys.close} onClick={onClose} />
          </div>
          <VisuallyHidden role="status">{term !== "" && !busy ? texts.search.total(total) : ""}</VisuallyHidden>
          <div className={styles.body}>
            <div className={styles.list} ref={list} id={`${id}-list`} role="listbox" aria-label={texts.search.results}>
              <Groups items={items} current={current} id={id} onOpen={open} onChoose={(item) => setChosen(items.indexOf(item))} />
              {failed && <Text p="md">{texts.search.failed}</Text>}
              {!failed && !busy && items.length === 0 && (
                <div className={styles.none}>
                  <Text fw={600}>{texts.search.none(term)}</Text>
                  <Text c="dimmed">{texts.search.noneHint}</Text>
                </div>
              )}
            </div>
            {current?.document && <Preview document={current.document} isForm={current.details !== undefined} />}
          </div>
          <div className={styles.keys} aria-hidden>
            <span>
              <Kbd>↑</Kbd> <Kbd>↓</Kbd> {texts.search.keys.move}
            </span>
            <span>
              <Kbd>Enter</Kbd> {texts.search.keys.open}
            </span>
            {current?.details && (
              <span>
                <Kbd>Shift</Kbd> <Kbd>Enter</Kbd> {texts.search.keys.details}
              </span>
            )}
          </div>
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}

const groups: { name: Item["group"]; title: string }[] = [
  { name: "starred", title: texts.search.starred },
  { name: "entities", title: texts.search.entities },
  { name: "pages", title: texts.search.pages },
  { name: "tasks", title: texts.search.tasks },
];

type GroupsProps = { items: Item[]; current: Item | undefined; id: string; onOpen: (to: string) => void; onChoose: (item: Item) => void };

function Groups({ items, current, id, onOpen, onChoose }: GroupsProps) {
  return groups.map(({ name, title }) => {
    const of = items.filter((i) => i.group === name);
    if (of.length === 0) {
      return null;
    }
    return (
      <div key={name} role="group" aria-label={title}>
        <div className={styles.group} aria-hidden>
          {title}
        </div>
        {of.map((item) => (
          // The keyboard is handled by the field.
          <div
            key={item.id}
            id={`${id}-${item.id}`}
            role="option"
            aria-selected={item === current}
            className={styles.item}
            onMouseMove={() => item !== current && onChoose(item)}
            onClick={() => onOpen(item.to)}
          >
            <Icon name={item.icon} />
            <span className={styles.label}>{item.label}</span>
            {item.detail && <span className={styles.detail}>{item.detail}</span>}
          </div>
        ))}
      </div>
    );
  });
}
