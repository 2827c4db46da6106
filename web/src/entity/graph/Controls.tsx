import { ActionIcon, Group } from "@mantine/core";
import { Icon, type IconName } from "../../components/Icon";
import { texts } from "../../text";
import styles from "./Graph.module.css";

const words = texts.entity.graph;

// Controls zoom and move the graph. They are below it, where they cover no node.
export function Controls({ root, onFit, onZoom, onHome }: { root: string; onFit: () => void; onZoom: (by: number) => void; onHome: () => void }) {
  const buttons: [string, IconName, () => void][] = [
    [words.zoomIn, "plus", () => onZoom(1.4)],
    [words.zoomOut, "minus", () => onZoom(1 / 1.4)],
    [words.fit, "fit", onFit],
    [words.center(root), "target", onHome],
  ];
  return (
    <Group gap={4} className={styles.controls} role="toolbar" aria-label={words.controls}>
      {buttons.map(([label, icon, act]) => (
        <ActionIcon key={label} variant="default" size="lg" aria-label={label} title={label} onClick={act}>
          <Icon name={icon} size={16} />
        </ActionIcon>
      ))}
    </Group>
  );
}
