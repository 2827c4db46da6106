import type { ReactNode } from "react";
import { Alert } from "@mantine/core";
import { Icon } from "../parts/Icon";
import styles from "./Entity.module.css";

// Warning says that something is not as it seems, and what to do about it.
export function Warning({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Alert color="yellow" variant="outline" icon={<Icon name="warning" />} title={title} classNames={{ title: styles.warning ?? "", message: styles.warning ?? "" }}>
      {children}
    </Alert>
  );
}
