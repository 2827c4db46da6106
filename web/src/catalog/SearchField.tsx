import { useEffect, useRef, useState } from "react";
import { CloseButton, TextInput } from "@mantine/core";
import { Icon } from "../components/Icon";
import { texts } from "../text";
import styles from "./Catalog.module.css";

// pause is the debounce time of the search in milliseconds.
const pause = 200;

// SearchField searches while the user types.
export function SearchField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [written, setWritten] = useState(text);
  const sent = useRef(text);
  const latest = useRef(onChange);
  latest.current = onChange;

  // The URL changed: the user went back or followed a link.
  useEffect(() => {
    if (text !== sent.current) {
      sent.current = text;
      setWritten(text);
    }
  }, [text]);

  useEffect(() => {
    if (written === sent.current) {
      return;
    }
    const timer = setTimeout(() => {
      sent.current = written;
      latest.current(written);
    }, pause);
    return () => clearTimeout(timer);
  }, [written]);

  return (
    <TextInput
      className={styles.search}
      type="search"
      data-search
      value={written}
      onChange={(e) => setWritten(e.currentTarget.value)}
      placeholder={texts.catalog.search}
      title={texts.catalog.searchHint}
      aria-label={texts.catalog.search}
      leftSection={<Icon name="search" />}
      rightSection={written !== "" && <CloseButton aria-label={texts.catalog.clearSearch} onClick={() => setWritten("")} />}
      maxLength={400}
    />
  );
}
