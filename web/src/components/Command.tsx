import { Copy } from "./Copy";
import styles from "./Command.module.css";

// Command is a command or a piece of configuration to copy.
export function Command({ text }: { text: string }) {
  return (
    <div className={styles.command}>
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} />
    </div>
  );
}
