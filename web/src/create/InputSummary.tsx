import { Group, Text, Title } from "@mantine/core";
import { Tag } from "../components/Tag";
import { toYaml } from "../components/toYaml";
import { isSecret } from "./form/draft";
import { allProperties, type Page } from "./form/pages";
import { propertiesOf } from "./form/prune";
import { isHidden, isObject, type Schema, type Values } from "./form/types";
import { measured, shownTitle } from "./form/units";
import { texts } from "../text";
import styles from "./Steps.module.css";

const words = texts.create.review;

// inWords formats a value for users.
export function inWords(value: unknown, schema: Schema): string {
  if (typeof value === "boolean") {
    return value ? words.yes : words.no;
  }
  if (typeof value === "number") {
    const unit = measured(schema)?.unit;
    return unit === undefined ? String(value) : unit === "%" ? `${value}%` : `${value} ${unit}`;
  }
  const names = schema["enumNames"];
  const all = schema["enum"];
  if (Array.isArray(names) && Array.isArray(all)) {
    const at = all.findIndex((v) => v === value);
    if (at >= 0 && typeof names[at] === "string") {
      return names[at];
    }
  }
  if (value === "") {
    return words.empty;
  }
  if (Array.isArray(value) && value.every((v) => typeof v !== "object" || v === null)) {
    return value.length === 0 ? words.none : value.map(String).join(", ");
  }
  return typeof value === "object" && value !== null ? (Object.keys(value).length === 0 ? words.none : toYaml(value).trimEnd()) : String(value);
}

// masked replaces secret values with bullets, at any depth.
export function masked(value: unknown, schema: Schema): unknown {
  if (isSecret(schema)) {
    return "•••••";
  }
  if (Array.isArray(value)) {
    const items = schema["items"];
    return isObject(items) ? value.map((v) => masked(v, items)) : value;
  }
  if (isObject(value)) {
    const known = propertiesOf(schema).schemas;
    const others = isObject(schema["additionalProperties"]) ? schema["additionalProperties"] : {};
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, masked(v, known.get(k) ?? others)]));
  }
  return value;
}

// maskedValues replaces the secrets among the values of a form with bullets.
export function maskedValues(pages: Page[], values: Values): Values {
  const known = allProperties(pages);
  return Object.fromEntries(Object.entries(values).map(([k, v]) => [k, masked(v, known.get(k) ?? {})]));
}

// PreviousValue shows the value before the change.
function PreviousValue({ value, schema }: { value: unknown; schema: Schema }) {
  return (
    <Group gap={6} mt={2} align="baseline" wrap="nowrap">
      <Tag tone="warning">{words.changed}</Tag>
      <Text span size="sm" c="dimmed" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {value === undefined ? words.wasNotSet : words.was(inWords(value, schema))}
      </Text>
    </Group>
  );
}

// InputSummary lists the values of a form page by page. A changed value shows the previous one beside it.
export function InputSummary({ pages, values, before }: { pages: Page[]; values: Values; before?: Values }) {
  return pages.map((page, i) => {
    const rows = [...propertiesOf(page.schema).schemas].filter(([key, schema]) => (values[key] ?? before?.[key]) !== undefined && !isHidden(schema));
    return (
      <section key={i} aria-label={words.page(i + 1, page.title)}>
        <Title order={3} size="h5" mb={6}>
          {page.title}
        </Title>
        {rows.length === 0 ? (
          <Text size="sm" c="dimmed">
            {words.noValues}
          </Text>
        ) : (
          <dl className={styles.facts}>
            {rows.map(([key, schema]) => {
              const shown = values[key] === undefined ? undefined : masked(values[key], schema);
              const block = typeof shown === "object" && shown !== null && !(Array.isArray(shown) && shown.every((v) => typeof v !== "object"));
              return [
                <dt key={`${key}-t`}>{shownTitle(schema, key)}</dt>,
                <dd key={`${key}-d`}>
                  <pre className={block ? styles.block : styles.value}>{shown === undefined ? words.removed : inWords(shown, schema)}</pre>
                  {before && JSON.stringify(before[key]) !== JSON.stringify(values[key]) && <PreviousValue value={masked(before[key], schema)} schema={schema} />}
                </dd>,
              ];
            })}
          </dl>
        )}
      </section>
    );
  });
}
