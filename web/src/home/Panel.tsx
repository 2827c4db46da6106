import { useId, type ReactNode } from "react";
import { Anchor, Group, Paper, Title } from "@mantine/core";
import { Link } from "react-router";
import { ErrorAlert, Loading } from "../components/State";
import styles from "./Home.module.css";

type Props = {
  title: string;
  // more leads to all of what the panel shows some of.
  more?: { label: string; to: string };
  extra?: ReactNode;
  query?: { isPending: boolean; isError: boolean; error: unknown; data: unknown; refetch: () => unknown };
  children: ReactNode;
};

// Panel is a box of the home page with a heading. It shows the state of its query until there is data.
export function Panel({ title, more, extra, query, children }: Props) {
  const id = useId();
  return (
    <Paper component="section" withBorder className={styles.panel} aria-labelledby={id}>
      <Group justify="space-between" gap="sm" className={styles.panelHead}>
        <Group gap="sm">
          <Title order={2} size="h4" id={id}>
            {title}
          </Title>
          {extra}
        </Group>
        {more && (
          <Anchor component={Link} to={more.to} size="sm">
            {more.label}
          </Anchor>
        )}
      </Group>
      {query?.isPending ? <Loading lines={3} /> : query?.isError && query.data === undefined ? <ErrorAlert error={query.error} retry={() => void query.refetch()} /> : children}
    </Paper>
  );
}
