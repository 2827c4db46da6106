import { ActionIcon, Button } from "@mantine/core";
import type { IconButtonProps } from "@rjsf/utils";
import { Icon, type IconName } from "../../components/Icon";
import { texts } from "../../text";

const words = texts.create.form;

export function AddButton({ title, onClick, disabled }: IconButtonProps) {
  return (
    <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={onClick} disabled={disabled} w="fit-content">
      {title ?? words.add}
    </Button>
  );
}

function iconButton(icon: IconName, label: string) {
  return function IconButton({ title, onClick, disabled, id }: IconButtonProps) {
    return (
      <ActionIcon id={id} variant="subtle" color="gray" c="var(--mantine-color-text)" size={36} aria-label={title ?? label} title={title ?? label} onClick={onClick} disabled={disabled}>
        <Icon name={icon} size={16} />
      </ActionIcon>
    );
  };
}

export const RemoveButton = iconButton("trash", words.remove);
export const MoveUpButton = iconButton("up", words.moveUp);
export const MoveDownButton = iconButton("down", words.moveDown);
export const CopyButton = iconButton("copy", words.copy);
export const ClearButton = iconButton("close", words.clear);
