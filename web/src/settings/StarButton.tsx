import { ActionIcon } from "@mantine/core";
import { Icon } from "../components/Icon";
import { messageOf } from "../components/State";
import { texts } from "../text";
import { useStars } from "./stars";
import styles from "./StarButton.module.css";

// StarButton adds an entity to the starred ones, or removes it. subject is the title of the entity.
export function StarButton({ entityRef, subject, size = "md" }: { entityRef: string; subject: string; size?: string }) {
  const { isStarred, known, toggle, error } = useStars();
  const on = isStarred(entityRef);
  const label = error ? texts.settings.starFailed(messageOf(error)) : on ? texts.settings.unstar(subject) : texts.settings.star(subject);
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={size}
      className={styles.star}
      aria-label={label}
      aria-pressed={on}
      title={label}
      disabled={!known}
      onClick={(e) => {
        // The button may be inside of a card that is a link.
        e.preventDefault();
        e.stopPropagation();
        toggle(entityRef);
      }}
    >
      <Icon name="star" fill={on ? "currentColor" : "none"} />
    </ActionIcon>
  );
}
