import { useState, type FormEvent } from "react";
import { Button, Group, Text, TextInput } from "@mantine/core";
import { Link } from "react-router";
import { Icon } from "../components/Icon";
import { messageOf } from "../components/State";
import { useViews } from "../settings/views";
import { texts } from "../text";
import styles from "./Catalog.module.css";

const words = texts.settings;

// Views lists the saved views of the catalog. search are the parameters of the current one.
export function Views({ search }: { search: string }) {
  const { views, remove, error } = useViews();
  if (views.length === 0) {
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
      <Failed error={error} />
    </Group>
  );
}

// SaveView saves the current view, unless there is one with the same parameters.
export function SaveView({ search }: { search: string }) {
  const { views, known, save, error } = useViews();
  const [name, setName] = useState<string>();
  if (!known || search === "" || views.some((v) => v.search === search)) {
    return null;
  }
  if (name === undefined) {
    return (
      <>
        <Button variant="subtle" px="xs" c="var(--mantine-color-anchor)" leftSection={<Icon name="plus" size={14} />} onClick={() => setName("")}>
          {words.saveView}
        </Button>
        <Failed error={error} />
      </>
    );
  }
  const submit = (e: FormEvent) => {
    e.preventDefault();
    save({ name: name.trim(), search });
    setName(undefined);
  };
  return (
    <form onSubmit={submit} onKeyDown={(e) => e.key === "Escape" && setName(undefined)}>
      <Group gap="xs" wrap="nowrap">
        <TextInput w={160} aria-label={words.viewName} placeholder={words.viewName} value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={60} autoFocus />
        <Button type="submit" disabled={name.trim() === ""}>
          {words.save}
        </Button>
      </Group>
    </form>
  );
}

function Failed({ error }: { error?: Error }) {
  return (
    error && (
      <Text size="sm" role="alert">
        {words.viewFailed(messageOf(error))}
      </Text>
    )
  );
}
