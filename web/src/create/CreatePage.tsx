import { useMemo, useState } from "react";
import { Button, Checkbox, Group, Select, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { usePermission } from "../app/permission";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { number, texts } from "../text";
import { CardView } from "./CardView";
import { filterCards, formatCardFilter, parseCardFilter, type CardFilter } from "./cardFilter";
import { ambiguous, cardsOf, categoryCounts, distinct, type Card } from "./cards";
import { useTemplates, useTitleOf } from "./queries";
import styles from "./Cards.module.css";

const words = texts.create.cards;

// pageSize is the number of cards per page.
const pageSize = 120;

// few is the number of categories that are offered.
const few = 10;

export default function CreatePage() {
  const templates = useTemplates();
  const [params, setParams] = useSearchParams();
  const filter = useMemo(() => parseCardFilter(params), [params]);
  const access = usePermission("scaffolder.task.create");
  const cards = useMemo(() => cardsOf(templates.data ?? []), [templates.data]);
  const owners = useMemo(() => distinct(cards.map((c) => c.owner)), [cards]);
  const titleOf = useTitleOf(owners);
  const change = (part: Partial<CardFilter>) => setParams(formatCardFilter({ ...filter, ...part }), { replace: true });
  return (
    <Page
      title={texts.app.create}
      lead={words.lead}
      actions={
        <Button component={Link} to="/tasks" variant="default" leftSection={<Icon name="tasks" size={16} />}>
          {words.tasks}
        </Button>
      }
    >
      {access.known && !access.allowed && (
        <Text size="sm" c="dimmed">
          {words.readOnly(access.reason ?? "")}
        </Text>
      )}
      <div className={styles.filters}>
        <TextInput
          type="search"
          data-search
          className={styles.search}
          aria-label={words.search}
          placeholder={words.searchHint}
          value={filter.text}
          onChange={(e) => change({ text: e.currentTarget.value })}
          leftSection={<Icon name="search" size={16} />}
        />
        <Select
          aria-label={words.owner}
          placeholder={words.allOwners}
          data={owners.map((ref) => ({ value: ref, label: titleOf(ref) }))}
          value={filter.owner || null}
          onChange={(owner) => change({ owner: owner ?? "" })}
          clearable
          clearButtonProps={{ "aria-label": words.clearOwner }}
          searchable
        />
        <Checkbox label={words.showAll} checked={filter.all} onChange={(e) => change({ all: e.currentTarget.checked })} />
      </div>
      {templates.isPending ? (
        <Loading label={words.loading} lines={8} />
      ) : templates.isError ? (
        <ErrorAlert error={templates.error} title={words.failed} retry={() => void templates.refetch()} />
      ) : (
        <>
          <Categories cards={cards} filter={filter} onChange={(category) => change({ category })} />
          <Cards cards={cards} filter={filter} titleOf={titleOf} onClear={() => setParams({}, { replace: true })} />
        </>
      )}
    </Page>
  );
}

// Categories filter the cards by one of the most common tags. A tag of a single card says no more than its name.
function Categories({ cards, filter, onChange }: { cards: Card[]; filter: CardFilter; onChange: (category: string) => void }) {
  const shown = useMemo(() => filterCards(cards, { ...filter, category: "" }), [cards, filter]);
  const all = useMemo(() => categoryCounts(shown).filter((c) => c.count > 1), [shown]);
  const known = all.filter((c, i) => i < few || c.value === filter.category);
  const offered = filter.category !== "" && !known.some((c) => c.value === filter.category) ? [...known, { value: filter.category, count: 0 }] : known;
  if (offered.length === 0) {
    return null;
  }
  return (
    <div role="group" aria-label={words.categories} className={styles.categories}>
      {[{ value: "", count: shown.length }, ...offered].map(({ value, count }) => (
        <UnstyledButton key={value} className={styles.category} aria-pressed={filter.category === value} onClick={() => onChange(filter.category === value ? "" : value)}>
          {value === "" ? words.all : value} <span className={styles.count}>{number(count)}</span>
        </UnstyledButton>
      ))}
    </div>
  );
}

function Cards({ cards, filter, titleOf, onClear }: { cards: Card[]; filter: CardFilter; titleOf: (ref: string) => string; onClear: () => void }) {
  const [most, setMost] = useState(pageSize);
  const chosen = useMemo(() => filterCards(cards, filter, titleOf), [cards, filter, titleOf]);
  const unclear = useMemo(() => ambiguous(cards), [cards]);
  const mayIngest = usePermission("catalog.ingestion.read").allowed;
  if (cards.length === 0) {
    return <Empty title={words.none}>{mayIngest ? words.noneOperator : words.noneHint}</Empty>;
  }
  if (chosen.length === 0) {
    return (
      <Empty
        title={words.noResults}
        action={
          <Button variant="default" onClick={onClear}>
            {words.clear}
          </Button>
        }
      >
        {words.noResultsHint}
      </Empty>
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" role="status" aria-live="polite">
        {words.count(chosen.length)}
      </Text>
      <ul className={styles.cards}>
        {chosen.slice(0, most).map((card) => (
          <li key={`${card.namespace}/${card.name}`}>
            <CardView card={card} withGroup={unclear.has(card.title)} titleOf={titleOf} />
          </li>
        ))}
      </ul>
      {chosen.length > most && (
        <Group>
          <Button variant="default" onClick={() => setMost(most + pageSize)}>
            {words.more(chosen.length - most)}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
