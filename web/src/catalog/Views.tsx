import { useState, type FormEvent } from "react";
import { Button, Group, Text, TextInput } from "@mantine/core";
import { Link } from "react-router";
import { Icon } from "../components/Icon";
import { messageOf } from "../components/State";
import { useViews } from "../settings/views";
import { texts } from "../text";
import styles from "./Catalog.module.css";

const words = texts.settings;

// Views lists the saved views of the catalog and saves the current one, whose parameters are in search.
export function Views({ search }: { search: string }) {
  const { views, known, save, remove, error } = useViews();
  const isNew = known && search !== "" && !views.some((v) => v.search === search);
  if (views.length === 0 && !isNew) {
    return null;
  }
  return (
    <Group gap="xs" component="section" aria-label={words.views}>
      {views.map((view) => (
        <span key={view.name} className={styles.view} data-on={view.search === search || undefined}>
          <Link to={`/catalog?${view.search}`}>{view.name}</Link>
          <button type="button" aria-label={words.removeView(view.name)} title={words.removeView(view.name)} onClick={() => remove(view.name)}>
            <Icon name="close" size={14} />
          </button>
        </span>
      ))}
      {isNew && <SaveView onSave={(name) => save({ name, search })} />}
      {error && (
        <Text size="sm" role="alert">
          {words.viewFailed(messageOf(error))}
        </Text>
      )}
    </Group>
  );
}

function SaveView({ onSave }: { onSave: (name: string) => void }) {
  const [name, setName] = useState<string>();
  if (name === undefined) {
    return (
      <Button size="xs" variant="subtle" c="var(--mantine-color-anchor)" leftSection={<Icon name="plus" size={14} />} onClick={() => setName("")}>
        {words.saveView}
      </Button>
    );
  }
  const submit = (e: FormEvent) => {
    e.preventDefault();
    onSave(name.trim());
    setName(undefined);
  };
  return (
    <form onSubmit={submit} onKeyDown={(e) => e.key === "Escape" && setName(undefined)}>
      <Group gap="xs">
        <TextInput size="xs" aria-label={words.viewName} placeholder={words.viewName} value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={60} autoFocus />
        <Button size="xs" type="submit" disabled={name.trim() === ""}>
          {words.save}
        </Button>
      </Group>
    </form>
  );
}
