import { UnstyledButton } from "@mantine/core";
import { Icon } from "../parts/Icon";
import styles from "./Steps.module.css";

// StepList shows where in a form one is. One can go back to every page, and forward to those one has been on.
export function StepList({ titles, at, been, onGo }: { titles: string[]; at: number; been: number; onGo: (step: number) => void }) {
  return (
    <nav aria-label="Pages of the form">
      <ol className={styles.steps}>
        {titles.map((title, i) => (
          <li key={i}>
            <UnstyledButton className={styles.step} disabled={i > been} onClick={() => onGo(i)} aria-current={i === at ? "step" : undefined}>
              {i < at ? <Icon name="check" size={14} /> : <span aria-hidden>{i + 1}</span>}
              {title}
            </UnstyledButton>
          </li>
        ))}
      </ol>
    </nav>
  );
}
