import type { ReactNode } from "react";
import { Alert } from "@mantine/core";
import { Icon } from "../components/Icon";
import styles from "./Entity.module.css";

// Warning is a yellow alert.
export function Warning({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Alert color="yellow" variant="outline" icon={<Icon name="warning" />} title={title} classNames={{ title: styles.warning ?? "", message: styles.warning ?? "" }}>
      {children}
    </Alert>
  );
}
