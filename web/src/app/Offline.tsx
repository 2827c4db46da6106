import { useEffect, useState, useSyncExternalStore } from "react";
import { Button, Group, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { checkConnection, currentConnection, onConnection } from "../api/connection";
import { Icon } from "../components/Icon";
import { texts } from "../text";
import styles from "./Offline.module.css";

// pause is the time between two attempts to reach the portal, in milliseconds.
const pause = 5_000;

// Offline is a banner above the page while the portal cannot be reached. It keeps trying, and loads the data of the page
// again when the portal is back.
export function Offline() {
  const { online, lastContact } = useSyncExternalStore(onConnection, currentConnection);
  const [trying, setTrying] = useState(false);
  const queries = useQueryClient();

  const retry = async () => {
    setTrying(true);
    await checkConnection();
    setTrying(false);
  };

  useEffect(() => onConnection((now) => now.online && void queries.invalidateQueries()), [queries]);

  useEffect(() => {
    if (online) {
      return;
    }
    const timer = setInterval(() => void checkConnection(), pause);
    return () => clearInterval(timer);
  }, [online]);

  if (online) {
    return null;
  }
  return (
    <Group className={styles.banner} role="alert" gap="sm" wrap="nowrap">
      <Icon name="offline" />
      <Text flex={1} size="sm">
        <strong>{texts.app.offline.title}.</strong> {texts.app.offline.since(new Date(lastContact).toLocaleTimeString())}
      </Text>
      <Button size="xs" variant="default" onClick={() => void retry()} disabled={trying}>
        {trying ? texts.app.offline.retrying : texts.app.offline.retry}
      </Button>
    </Group>
  );
}
