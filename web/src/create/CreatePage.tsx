import { useMemo, useState } from "react";
import { Anchor, Button, Checkbox, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { templatePath } from "../api/entity";
import { usePermission } from "../app/permission";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag } from "../components/Tag";
import { byType, cardOf, filterCards, distinct, parseCardFilter, formatCardFilter, type Card, type CardFilter } from "./cards";
import { useTemplates } from "./queries";
import styles from "./Cards.module.css";

// pageSize is the number of cards per page.
const pageSize = 120;

export default function CreatePage() {
  const templates = useTemplates();
  const [params, setParams] = useSearchParams();
  const filter = useMemo(() => parseCardFilter(params), [params]);
  const access = usePermission("scaffolder.task.create");
  const cards = useMemo(() => (templates.data ?? []).map(cardOf), [templates.data]);
  const change = (part: Partial<CardFilter>) => setParams(formatCardFilter({ ...filter, ...part }), { replace: true });
  return (
    <Page
      title="Create"
      lead="Choose a template, fill in its form and follow its progress."
      actions={
        <Button component={Link} to="/tasks" variant="default" leftSection={<Icon name="clock" size={16} />}>
          My tasks
        </Button>
      }
    >
      {access.known && !access.allowed && (
        <Text size="sm" c="dimmed">
          {`You can view forms, but you cannot run them. ${access.reason ?? ""}`}
        </Text>
      )}
      <div className={styles.filters}>
        <TextInput
          type="search"
          data-search
          label="Search"
          placeholder="Name, description or tag"
          value={filter.text}
          onChange={(e) => change({ text: e.currentTarget.value })}
          leftSection={<Icon name="search" size={16} />}
        />
        <Select label="Type" placeholder="All" data={distinct(cards.map((c) => c.type))} value={filter.type || null} onChange={(type) => change({ type: type ?? "" })} clearable clearButtonProps={{ "aria-label": "Clear type" }} searchable />
        <Select label="Owner" placeholder="All" data={distinct(cards.map((c) => c.owner))} value={filter.owner || null} onChange={(owner) => change({ owner: owner ?? "" })} clearable clearButtonProps={{ "aria-label": "Clear owner" }} searchable />
        <Checkbox label="Show update and delete templates" checked={filter.all} onChange={(e) => change({ all: e.currentTarget.checked })} pb={8} />
      </div>
      {templates.isPending ? (
        <Loading label="Loading templates" lines={8} />
      ) : templates.isError ? (
        <ErrorAlert error={templates.error} title="Cannot load templates" retry={() => void templates.refetch()} />
      ) : (
        <Cards cards={cards} filter={filter} />
      )}
    </Page>
  );
}

function Cards({ cards, filter }: { cards: Card[]; filter: CardFilter }) {
  const [most, setMost] = useState(pageSize);
  const chosen = useMemo(() => filterCards(cards, filter), [cards, filter]);
  if (cards.length === 0) {
    return <Empty title="No templates yet">The portal generates a template from each definition it ingests. See Ingestion for the status of its sources.</Empty>;
  }
  if (chosen.length === 0) {
    return <Empty title="No results">Try another search term, or clear the filters.</Empty>;
  }
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed" role="status" aria-live="polite">
        {chosen.length === 1 ? "1 template" : `${chosen.length.toLocaleString("en")} templates`}
      </Text>
      {byType(chosen.slice(0, most)).map(([type, group]) => (
        <section key={type} aria-label={type}>
          <Title order={2} size="h4" mb="sm" tt="capitalize">
            {type}
          </Title>
          <ul className={styles.cards}>
            {group.map((card) => (
              <li key={`${card.namespace}/${card.name}`}>
                <CardView card={card} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {chosen.length > most && (
        <Button variant="default" w="fit-content" onClick={() => setMost(most + pageSize)}>{`Show more (${(chosen.length - most).toLocaleString("en")} left)`}</Button>
      )}
    </Stack>
  );
}

function CardView({ card }: { card: Card }) {
  return (
    <article className={styles.card}>
      <Title order={3} size="h5">
        <Anchor component={Link} to={templatePath(card)} className={styles.main} inherit>
          {card.title}
        </Anchor>
      </Title>
      {card.description !== "" && (
        <Text size="sm" className={styles.text}>
          {card.description}
        </Text>
      )}
      <Group gap={6}>
        {card.purpose !== "create" && <Tag tone="warning">{card.purpose}</Tag>}
        {card.unserved.length > 0 && <Tag tone="error">{`not served by ${card.unserved.join(", ")}`}</Tag>}
        {card.tags.slice(0, 5).map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </Group>
      {card.owner !== "" && (
        <Text size="sm" c="dimmed" className={styles.foot}>
          Owned by <RefLink to={card.owner} kind="group" namespace={card.namespace} />
        </Text>
      )}
    </article>
  );
}
