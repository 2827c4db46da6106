import { ActionIcon, Button } from "@mantine/core";
import type { IconButtonProps } from "@rjsf/utils";
import { Icon, type IconName } from "../../components/Icon";

export function AddButton({ title, onClick, disabled }: IconButtonProps) {
  return (
    <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={onClick} disabled={disabled} w="fit-content">
      {title ?? "Add"}
    </Button>
  );
}

function iconButton(icon: IconName, words: string) {
  return function IconButton({ title, onClick, disabled, id }: IconButtonProps) {
    return (
      <ActionIcon id={id} variant="subtle" color="gray" c="var(--mantine-color-text)" size={36} aria-label={title ?? words} title={title ?? words} onClick={onClick} disabled={disabled}>
        <Icon name={icon} size={16} />
      </ActionIcon>
    );
  };
}

export const RemoveButton = iconButton("trash", "Remove");
export const MoveUpButton = iconButton("up", "Move up");
export const MoveDownButton = iconButton("down", "Move down");
export const CopyButton = iconButton("copy", "Copy");
export const ClearButton = iconButton("close", "Clear");
