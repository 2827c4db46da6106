import type { ReactNode } from "react";
import { Alert, type AlertProps } from "@mantine/core";
import type { ToneName } from "../design/tokens";
import { Icon, type IconName } from "./Icon";

const icons: Record<ToneName, IconName> = { success: "check", progress: "info", warning: "warning", error: "error" };

// The color of an alert is for its icon only: the text is as readable as any other.
const styles = {
  root: { padding: "12px 16px" },
  title: { color: "var(--mantine-color-text)", fontWeight: 600 },
  message: { color: "var(--mantine-color-text)", overflowWrap: "anywhere" },
} as const;

// Notice is a message in a box, with the color and icon of its tone. An error is announced by screen readers.
export function Notice({ tone, title, children, ...rest }: { tone: ToneName; title?: ReactNode; children?: ReactNode } & Omit<AlertProps, "title" | "color" | "variant" | "icon">) {
  return (
    <Alert
      role={tone === "error" ? "alert" : undefined}
      title={title}
      icon={<Icon name={icons[tone]} />}
      radius="lg"
      vars={() => ({ root: { "--alert-bg": `var(--${tone}-background)`, "--alert-bd": `1px solid var(--${tone}-border)`, "--alert-color": `var(--${tone}-text)` } })}
      styles={styles}
      {...rest}
    >
      {children}
    </Alert>
  );
}
