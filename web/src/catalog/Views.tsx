import { useState, type FormEvent } from "react";
import { ActionIcon, Button, Group, Popover, Text, TextInput } from "@mantine/core";
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
  return (
    <>
      {views.length > 0 && (
        <Popover position="bottom-end">
          <Popover.Target>
            <Button variant="default" rightSection={<Icon name="down" size={14} />}>
              {views.find((v) => v.search === search)?.name ?? words.views}
            </Button>
          </Popover.Target>
          <Popover.Dropdown p={4} miw={220}>
            <ul className={styles.views}>
              {views.map((view) => (
                <li key={view.name}>
                  <Link to={`/catalog?${view.search}`}>{view.name}</Link>
                  <ActionIcon variant="subtle" color="gray" aria-label={words.removeView(view.name)} title={words.removeView(view.name)} onClick={() => remove(view.name)}>
                    <Icon name="close" size={14} />
                  </ActionIcon>
                </li>
              ))}
            </ul>
          </Popover.Dropdown>
        </Popover>
      )}
      {known && search !== "" && !views.some((v) => v.search === search) && <SaveView onSave={(name) => save({ name, search })} />}
      {error && (
        <Text size="sm" role="alert">
          {words.viewFailed(messageOf(error))}
        </Text>
      )}
    </>
  );
}

function SaveView({ onSave }: { onSave: (name: string) => void }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const submit = (e: FormEvent) => {
    e.preventDefault();
    onSave(name.trim());
    setOpen(false);
    setName("");
  };
  return (
    <Popover opened={open} onChange={setOpen} trapFocus position="bottom-end">
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="star" size={16} />} onClick={() => setOpen(!open)}>
          {words.saveView}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <Group gap="xs" align="flex-end">
            <TextInput label={words.viewName} value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={60} data-autofocus />
            <Button type="submit" disabled={name.trim() === ""}>
              {words.save}
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
