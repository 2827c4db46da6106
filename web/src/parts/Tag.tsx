import type { ReactNode } from "react";
import { Badge } from "@mantine/core";
import { Icon, type IconName } from "./Icon";
import styles from "./Tag.module.css";

// Tone is what a tag means. It is never told by colour alone: the words and, where it matters, the icon say it too.
export type Tone = "plain" | "good" | "busy" | "bad" | "doubt";

const icons: Partial<Record<Tone, IconName>> = { good: "check", bad: "error", doubt: "warning", busy: "clock" };

// Tag is a word in a box.
export function Tag({ children, tone = "plain", title }: { children: ReactNode; tone?: Tone; title?: string }) {
  const icon = icons[tone];
  return (
    <Badge
      className={styles[tone]}
      classNames={{ label: styles.label ?? "" }}
      variant="default"
      radius="sm"
      fw={500}
      tt="none"
      title={title}
      leftSection={icon && <Icon name={icon} size={12} />}
    >
      {children}
    </Badge>
  );
}
