import { useMemo, useRef } from "react";
import { Button, Checkbox, Group, Switch, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useSearchParams } from "react-router";
import { useSession } from "../app/session";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { texts } from "../text";
import { Facets } from "./Facets";
import { facetNames, isFiltered, isFolded, isNotReadyMine, isUnfoldedByFacet, notReadyMine, parseFilter, formatFilter, type CatalogFilter } from "./filter";
import { useOlderVersions } from "./products";
import { useFirst } from "./queries";
import { SearchField } from "./SearchField";
import { Table } from "./Table";
import { useListRoom } from "./useListRoom";
import { SaveView, Views } from "./Views";
import styles from "./Catalog.module.css";

export default function CatalogPage() {
  const [params, setParams] = useSearchParams();
  const { guest, ownershipRefs } = useSession();
  const older = useOlderVersions(params.get("all") !== "true");
  const filter = useMemo(() => parseFilter(params, ownershipRefs, older), [params, ownershipRefs, older]);
  // Guests own nothing.
  const owner = !guest && ownershipRefs.length > 0;
  const onlyNotReadyMine = isNotReadyMine(filter);
  const [open, { toggle }] = useDisclosure(false);
  const change = (part: Partial<CatalogFilter>, replace = false) => setParams(formatFilter({ ...filter, ...part }), { replace });
  const first = useFirst(filter);
  const total = first.data?.totalItems ?? 0;
  const count = facetNames.reduce((sum, name) => sum + filter.chosen[name].length, Number(filter.mine));
  const search = formatFilter(filter).toString();
  const unfolded = isUnfoldedByFacet(filter);
  const rows = useRef<HTMLDivElement>(null);
  useListRoom(rows);

  return (
    <Page title={texts.catalog.title} lead={texts.catalog.lead}>
      <Views search={search} />
      <Group gap="sm" align="center">
        <SearchField text={filter.text} onChange={(text) => change({ text }, true)} />
        <Button className={styles.toggle} variant="default" leftSection={<Icon name="filter" />} onClick={toggle} aria-expanded={open}>
          {count === 0 ? texts.catalog.filters : texts.catalog.filtersChosen(count)}
        </Button>
        {(owner || onlyNotReadyMine) && (
          <Button
            className={styles.mine}
            variant={onlyNotReadyMine ? "filled" : "default"}
            leftSection={<Icon name={onlyNotReadyMine ? "check" : "error"} />}
            aria-pressed={onlyNotReadyMine}
            onClick={() => change(notReadyMine(filter, !onlyNotReadyMine))}
          >
            {texts.catalog.notReadyMine}
          </Button>
        )}
        <div className={styles.actions}>
          {isFiltered(filter) && (
            <Button variant="subtle" px="xs" c="var(--mantine-color-anchor)" onClick={() => setParams(formatFilter({ ...parseFilter(new URLSearchParams()), all: filter.all, sort: filter.sort, descending: filter.descending }))}>
              {texts.catalog.clearFilters}
            </Button>
          )}
          <SaveView search={search} />
        </div>
        <div className={styles.summary}>
          <Switch
            label={texts.catalog.showAll}
            title={unfolded ? texts.catalog.showAllReason : texts.catalog.showAllHint}
            checked={!isFolded(filter)}
            disabled={unfolded}
            classNames={{ track: styles.track ?? "" }}
            onChange={(e) => change({ all: e.currentTarget.checked })}
          />
          <Text size="sm" c="dimmed" role="status" aria-live="polite">
            {first.data ? texts.catalog.total(total) : ""}
          </Text>
        </div>
      </Group>
      <div className={styles.columns}>
        <aside className={open ? styles.facetsOpen : styles.facets} aria-label={texts.catalog.filters}>
          {(owner || filter.mine) && (
            <Checkbox size="xs" label={texts.catalog.mine} checked={filter.mine} onChange={(e) => change({ mine: e.currentTarget.checked })} />
          )}
          <Facets filter={filter} onChange={(chosen) => change({ chosen })} />
        </aside>
        <div className={styles.rows} ref={rows}>
          <Rows filter={filter} first={first} onSort={(sort, descending) => change({ sort, descending })} />
        </div>
      </div>
    </Page>
  );
}

function Rows({ filter, first, onSort }: { filter: CatalogFilter; first: ReturnType<typeof useFirst>; onSort: (sort: CatalogFilter["sort"], descending: boolean) => void }) {
  // Keep a loaded table and show the error above it.
  if (first.isError && !first.data) {
    return <ErrorAlert error={first.error} title={texts.catalog.loadFailed} retry={() => void first.refetch()} />;
  }
  if (!first.data) {
    return <Loading label={texts.catalog.loading} lines={12} />;
  }
  if (first.data.totalItems === 0 && !first.isPlaceholderData) {
    return isFiltered(filter) ? (
      <Empty title={texts.catalog.noResults}>{isFolded(filter) ? texts.catalog.noResultsFolded : texts.catalog.noResultsHint}</Empty>
    ) : (
      <Empty title={texts.catalog.empty}>{texts.catalog.emptyHint}</Empty>
    );
  }
  return (
    <>
      {first.isError && <ErrorAlert error={first.error} title={texts.catalog.outdated} retry={() => void first.refetch()} />}
      <Table filter={filter} total={first.data.totalItems ?? 0} busy={first.isPlaceholderData} onSort={onSort} />
    </>
  );
}
