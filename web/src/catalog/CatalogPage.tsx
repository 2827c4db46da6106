import { useMemo } from "react";
import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useSearchParams } from "react-router";
import { Facet } from "../parts/Facet";
import { Icon } from "../parts/Icon";
import { Page } from "../parts/Page";
import { Empty, Failed, Loading } from "../parts/State";
import { facetNames, facets, isNarrowed, readChoice, writeChoice, type Choice, type FacetName } from "./choice";
import { useFacets, useFirst } from "./queries";
import { SearchField } from "./SearchField";
import { Table } from "./Table";
import styles from "./Catalog.module.css";

export default function CatalogPage() {
  const [params, setParams] = useSearchParams();
  const choice = useMemo(() => readChoice(params), [params]);
  const [open, { toggle }] = useDisclosure(false);
  const change = (part: Partial<Choice>, replace = false) => setParams(writeChoice({ ...choice, ...part }), { replace });
  const first = useFirst(choice);
  const total = first.data?.totalItems ?? 0;
  const count = facetNames.reduce((sum, name) => sum + choice.chosen[name].length, 0);

  return (
    <Page title="Catalog" lead="Everything your platform offers, and what runs on it.">
      <Group gap="sm" align="center">
        <SearchField text={choice.text} onChange={(text) => change({ text }, true)} />
        <Button className={styles.toggle} variant="default" leftSection={<Icon name="filter" />} onClick={toggle} aria-expanded={open}>
          {count === 0 ? "Filters" : `Filters (${count})`}
        </Button>
        {isNarrowed(choice) && (
          <Button variant="subtle" c="var(--mantine-color-anchor)" onClick={() => setParams(writeChoice({ ...readChoice(new URLSearchParams()), sort: choice.sort, descending: choice.descending }))}>
            Show everything
          </Button>
        )}
        <Text size="sm" c="dimmed" role="status" aria-live="polite">
          {first.data ? `${total.toLocaleString("en")} ${total === 1 ? "entity" : "entities"}` : ""}
        </Text>
      </Group>
      <div className={styles.columns}>
        <aside className={open ? styles.facetsOpen : styles.facets} aria-label="Filters">
          <Facets choice={choice} onChange={(chosen) => change({ chosen })} />
        </aside>
        <div className={styles.rows}>
          <Rows choice={choice} first={first} onSort={(sort, descending) => change({ sort, descending })} />
        </div>
      </div>
    </Page>
  );
}

function Facets({ choice, onChange }: { choice: Choice; onChange: (chosen: Choice["chosen"]) => void }) {
  const { values, failed } = useFacets(choice);
  if (failed) {
    return (
      <Text size="sm" c="dimmed">
        The filters cannot be counted right now. What is in the address still holds.
      </Text>
    );
  }
  const choose = (name: FacetName) => (chosen: string[]) => onChange({ ...choice.chosen, [name]: chosen });
  return facetNames.map((name) => (
    <Facet key={name} title={facets[name].title} show={facets[name].show} values={values(name)} chosen={choice.chosen[name]} onChange={choose(name)} />
  ));
}

function Rows({ choice, first, onSort }: { choice: Choice; first: ReturnType<typeof useFirst>; onSort: (sort: Choice["sort"], descending: boolean) => void }) {
  // A table that was seen stays, with the error above it.
  if (first.isError && !first.data) {
    return <Failed error={first.error} title="The catalog cannot be read" retry={() => void first.refetch()} />;
  }
  if (!first.data) {
    return <Loading label="Loading the catalog" lines={12} />;
  }
  if (first.data.totalItems === 0 && !first.isPlaceholderData) {
    return isNarrowed(choice) ? (
      <Empty title="Nothing fits">Look for the beginning of a word, or take a filter away.</Empty>
    ) : (
      <Empty title="The catalog is empty">
        Sources are read in the background: wait a moment, and look at Ingestion for what is going on. Sources are set in app-config.yaml.
      </Empty>
    );
  }
  return (
    <>
      {first.isError && <Failed error={first.error} title="What you see may be out of date" retry={() => void first.refetch()} />}
      <Table choice={choice} total={first.data.totalItems ?? 0} busy={first.isPlaceholderData} onSort={onSort} />
    </>
  );
}
