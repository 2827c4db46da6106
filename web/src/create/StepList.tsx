import { useEffect, useRef } from "react";
import { UnstyledButton } from "@mantine/core";
import { Icon } from "../components/Icon";
import { texts } from "../text";
import styles from "./Steps.module.css";

// StepList shows the steps of a form. Users can go back to any step and forward to visited ones.
export function StepList({ titles, at, been, onGo }: { titles: string[]; at: number; been: number; onGo: (step: number) => void }) {
  const list = useRef<HTMLOListElement>(null);
  // On a phone the list scrolls sideways. jsdom cannot scroll.
  useEffect(() => {
    list.current?.querySelector('[aria-current="step"]')?.scrollIntoView?.({ block: "nearest", inline: "center" });
  }, [at]);
  return (
    <nav aria-label={texts.create.template.steps}>
      <ol ref={list} className={styles.steps}>
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
