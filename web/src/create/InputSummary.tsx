import { Group, Text, Title } from "@mantine/core";
import { Tag } from "../components/Tag";
import { toYaml } from "../components/toYaml";
import { useTitles } from "../components/useTitles";
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
      <Tag tone="progress" icon="edit">{words.changed}</Tag>
      <Text span size="sm" c="dimmed" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {value === undefined ? words.wasNotSet : words.was(inWords(value, schema))}
      </Text>
    </Group>
  );
}

// Row is a value of a form, with the titles of the sections around it.
type Row = { key: string; title: string; schema: Schema; value: unknown; before: unknown };

// rowsOf returns the values of a schema as rows. An object whose fields are all declared has a row for each of them; any other
// is one row.
function rowsOf(schema: Schema, values: Values, before: Values, above: { key: string; title: string } = { key: "", title: "" }): Row[] {
  return [...propertiesOf(schema).schemas].flatMap(([name, s]) => {
    const [value, was] = [values[name], before[name]];
    if ((value ?? was) === undefined || isHidden(s)) {
      return [];
    }
    const here = { key: `${above.key}.${name}`, title: above.title === "" ? shownTitle(s, name) : words.within(above.title, shownTitle(s, name)) };
    const fields = [value, was].filter((v) => v !== undefined);
    if (s["ui:field"] === undefined && !isSecret(s) && fields.every(isObject)) {
      const declared = propertiesOf(s).schemas;
      const inner = fields.every((v) => Object.keys(v).every((k) => declared.has(k))) ? rowsOf(s, isObject(value) ? value : {}, isObject(was) ? was : {}, here) : [];
      if (inner.length > 0) {
        return inner;
      }
    }
    return [{ ...here, schema: s, value, before: was }];
  });
}

const pickers: ReadonlySet<unknown> = new Set(["OwnerPicker", "EntityPicker", "OwnedEntityPicker", "MyGroupsPicker"]);

// refIn returns the entity reference that a row holds; empty if it holds none.
function refIn({ schema, value }: Row): string {
  return pickers.has(schema["ui:field"]) && typeof value === "string" && /^[^:/]+:[^:/]+\/[^:/]+$/.test(value) ? value : "";
}

// InputSummary lists the values of a form page by page. A changed value shows the previous one beside it.
export function InputSummary({ pages, values, before }: { pages: Page[]; values: Values; before?: Values }) {
  const all = pages.map((page) => rowsOf(page.schema, values, before ?? {}));
  const titles = useTitles(all.flat().map(refIn).filter((ref) => ref !== ""));
  return pages.map((page, i) => (
    <section key={i} aria-label={words.page(i + 1, page.title)}>
      <Title order={3} size="h5" mb={6}>
        {page.title}
      </Title>
      {all[i]!.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noValues}
        </Text>
      ) : (
        <dl className={styles.facts}>
          {all[i]!.map((row) => {
            const { schema } = row;
            const shown = row.value === undefined ? undefined : masked(row.value, schema);
            const block = typeof shown === "object" && shown !== null && !(Array.isArray(shown) && shown.every((v) => typeof v !== "object"));
            const ref = titles.get(refIn(row));
            return [
              <dt key={`${row.key}-t`}>{row.title}</dt>,
              <dd key={`${row.key}-d`}>
                <pre className={block ? styles.block : styles.value} title={ref && String(row.value)}>
                  {shown === undefined ? words.removed : ref && !ref.missing ? ref.title : inWords(shown, schema)}
                </pre>
                {before && JSON.stringify(row.before) !== JSON.stringify(row.value) && <PreviousValue value={masked(row.before, schema)} schema={schema} />}
              </dd>,
            ];
          })}
        </dl>
      )}
    </section>
  ));
}
