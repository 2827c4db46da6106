import type { ReactNode } from "react";
import { Alert, type AlertProps } from "@mantine/core";
import type { ToneName } from "../design/tokens";
import { Icon, type IconName } from "./Icon";
import styles from "./Notice.module.css";

const icons: Record<ToneName, IconName> = { success: "check", progress: "info", warning: "warning", error: "error" };

// Notice is a message in a box, with the color and icon of its tone. An error is announced by screen readers.
export function Notice({ tone, title, children, ...rest }: { tone: ToneName; title?: ReactNode; children?: ReactNode } & Omit<AlertProps, "title" | "color" | "variant" | "icon">) {
  return (
    <Alert
      role={tone === "error" ? "alert" : undefined}
      title={title}
      icon={<Icon name={icons[tone]} />}
      classNames={{ root: styles.notice ?? "", icon: styles.icon ?? "", title: styles.title ?? "", message: styles.message ?? "" }}
      data-tone={tone}
      {...rest}
    >
      {children}
    </Alert>
  );
}
