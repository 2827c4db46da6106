import { useMemo, useState } from "react";
import { Anchor, Button, Checkbox, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { templatePath } from "../api/entity";
import { useMay } from "../app/may";
import { Icon } from "../parts/Icon";
import { Page } from "../parts/Page";
import { RefLink } from "../parts/Ref";
import { Empty, Failed, Loading } from "../parts/State";
import { Tag } from "../parts/Tag";
import { byType, cardOf, choose, distinct, readWanted, writeWanted, type Card, type Wanted } from "./cards";
import { useTemplates } from "./queries";
import styles from "./Cards.module.css";

// some is how many cards are shown at once.
const some = 120;

export default function CreatePage() {
  const templates = useTemplates();
  const [params, setParams] = useSearchParams();
  const wanted = useMemo(() => readWanted(params), [params]);
  const may = useMay("scaffolder.task.create");
  const cards = useMemo(() => (templates.data ?? []).map(cardOf), [templates.data]);
  const want = (part: Partial<Wanted>) => setParams(writeWanted({ ...wanted, ...part }), { replace: true });
  return (
    <Page
      title="Create"
      lead="Choose what you need, fill in its form, and watch it come up."
      actions={
        <Button component={Link} to="/tasks" variant="default" leftSection={<Icon name="clock" size={16} />}>
          My tasks
        </Button>
      }
    >
      {may.known && !may.allowed && (
        <Text size="sm" c="dimmed">
          {`You can look at every form, and not start anything. ${may.why ?? ""}`}
        </Text>
      )}
      <div className={styles.filters}>
        <TextInput
          type="search"
          data-search
          label="Search"
          placeholder="Name, description or tag"
          value={wanted.text}
          onChange={(e) => want({ text: e.currentTarget.value })}
          leftSection={<Icon name="search" size={16} />}
        />
        <Select label="Type" placeholder="All" data={distinct(cards.map((c) => c.type))} value={wanted.type || null} onChange={(type) => want({ type: type ?? "" })} clearable clearButtonProps={{ "aria-label": "All types" }} searchable />
        <Select label="Owner" placeholder="All" data={distinct(cards.map((c) => c.owner))} value={wanted.owner || null} onChange={(owner) => want({ owner: owner ?? "" })} clearable clearButtonProps={{ "aria-label": "All owners" }} searchable />
        <Checkbox label="Also those that change or delete" checked={wanted.all} onChange={(e) => want({ all: e.currentTarget.checked })} pb={8} />
      </div>
      {templates.isPending ? (
        <Loading label="Loading the templates" lines={8} />
      ) : templates.isError ? (
        <Failed error={templates.error} title="The templates cannot be read" retry={() => void templates.refetch()} />
      ) : (
        <Cards cards={cards} wanted={wanted} />
      )}
    </Page>
  );
}

function Cards({ cards, wanted }: { cards: Card[]; wanted: Wanted }) {
  const [most, setMost] = useState(some);
  const chosen = useMemo(() => choose(cards, wanted), [cards, wanted]);
  if (cards.length === 0) {
    return <Empty title="There are no templates yet">Every definition that the portal reads brings one. Look at Ingestion for what it reads.</Empty>;
  }
  if (chosen.length === 0) {
    return <Empty title="Nothing fits">Search for another word, or take a filter away.</Empty>;
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
        <Button variant="default" w="fit-content" onClick={() => setMost(most + some)}>{`Show more (${(chosen.length - most).toLocaleString("en")} left)`}</Button>
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
        {card.purpose !== "create" && <Tag tone="doubt">{card.purpose}</Tag>}
        {card.unserved.length > 0 && <Tag tone="bad">{`not served by ${card.unserved.join(", ")}`}</Tag>}
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
