import { useState } from "react";
import { Button, Group, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import type { NamedDefinitions } from "../api/types";
import { Icon } from "../components/Icon";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { texts } from "../text";
import { useAddress } from "./address";
import { DefinitionRow } from "./DefinitionRow";
import { useDefinitions, type DefinitionFilter } from "./queries";
import styles from "./Definitions.module.css";

const words = texts.ingestion.definitions;
const only = ["all", "selected", "unselected", "findings"] as const;

// Definitions shows every definition found, one row for each name.
export function Definitions({ clusters }: { clusters: string[] }) {
  const [params, set] = useAddress();
  const filter: DefinitionFilter = { text: params.get("q") ?? undefined, cluster: params.get("cluster") ?? undefined, only: params.get("only") ?? undefined };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useDefinitions(filter, true);
  const items = data?.pages.flatMap((p) => p.items) ?? [];
  const last = data?.pages.at(-1);
  const open = params.getAll("open");
  const toggle = (name: string) => set({ open: open.includes(name) ? open.filter((o) => o !== name) : [...open, name] });
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Stack gap="md" component="section" aria-label={words.list}>
      <Text size="sm" c="dimmed">
        {words.lead}
      </Text>
      <Filters clusters={clusters} filter={filter} counts={last?.counts} />
      {error && !data ? (
        <ErrorAlert error={error} retry={() => void refetch()} />
      ) : !last ? (
        <Loading label={words.loading} lines={8} />
      ) : items.length === 0 ? (
        <Empty
          title={filtered ? words.noResults : words.none}
          action={
            filtered && (
              <Button size="xs" variant="default" onClick={() => set({ q: undefined, cluster: undefined, only: undefined })}>
                {words.clear}
              </Button>
            )
          }
        >
          {filtered ? undefined : words.noneHint}
        </Empty>
      ) : (
        <>
          <div className={styles.table}>
            <div className={styles.head} aria-hidden>
              <span>{words.columns.name}</span>
              <span>{words.columns.selection}</span>
              <span>{words.columns.places}</span>
              <span>{words.columns.findings}</span>
            </div>
            <ul className={styles.rows} aria-label={words.list}>
              {items.map((d) => (
                <DefinitionRow key={d.name} definition={d} open={open.includes(d.name)} onToggle={() => toggle(d.name)} />
              ))}
            </ul>
          </div>
          <Group justify="space-between">
            <Text size="sm" c="dimmed" role="status">
              {words.shown(items.length, last.totalItems)}
            </Text>
            {hasNextPage && (
              <Button size="xs" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                {words.loadMore}
              </Button>
            )}
          </Group>
        </>
      )}
    </Stack>
  );
}

function Filters({ clusters, filter, counts }: { clusters: string[]; filter: DefinitionFilter; counts?: NamedDefinitions["counts"] }) {
  const [, set] = useAddress();
  return (
    <div className={styles.filters}>
      {/* Clearing the filters empties the field. */}
      <Search key={filter.text === undefined ? "empty" : "text"} text={filter.text ?? ""} onChange={(q) => set({ q: q === "" ? undefined : q })} />
      <SegmentedControl
        size="xs"
        aria-label={words.filter}
        className={styles.only}
        data={only.map((value) => ({ value, label: counts ? words.onlyCount(words.only[value], counts[value]) : words.only[value] }))}
        value={only.find((value) => value === filter.only) ?? "all"}
        onChange={(value) => set({ only: value === "all" ? undefined : value })}
      />
      {clusters.length > 1 && (
        <Select
          size="xs"
          className={styles.cluster}
          aria-label={words.cluster}
          placeholder={words.allClusters}
          clearable
          data={clusters}
          value={filter.cluster ?? null}
          onChange={(value) => set({ cluster: value ?? undefined })}
        />
      )}
    </div>
  );
}

function Search({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [written, setWritten] = useState(text);
  const send = useDebouncedCallback(onChange, 200);
  return (
    <TextInput
      size="xs"
      type="search"
      data-search
      className={styles.search}
      aria-label={words.search}
      placeholder={words.search}
      leftSection={<Icon name="search" size={14} />}
      maxLength={253}
      value={written}
      onChange={(e) => {
        setWritten(e.currentTarget.value);
        send(e.currentTarget.value.trim());
      }}
    />
  );
}
