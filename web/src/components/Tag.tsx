import type { ReactNode } from "react";
import { Badge } from "@mantine/core";
import { Icon, type IconName } from "./Icon";
import styles from "./Tag.module.css";

// Tone is the meaning of a tag. It is never conveyed by color alone: text and icon carry it too.
export type Tone = "plain" | "success" | "progress" | "error" | "warning";

const icons: Partial<Record<Tone, IconName>> = { success: "check", error: "error", warning: "warning", progress: "clock" };

// Tag is a small label. Its icon is that of its tone, unless another is given.
export function Tag({ children, tone = "plain", icon = icons[tone], title }: { children: ReactNode; tone?: Tone; icon?: IconName; title?: string }) {
  return (
    <Badge
      className={styles[tone]}
      classNames={{ label: styles.label ?? "" }}
      variant="default"
      radius="sm"
      fw={500}
      tt="none"
      flex="none"
      title={title}
      leftSection={icon && <Icon name={icon} size={12} />}
    >
      {children}
    </Badge>
  );
}
