import { createContext, useContext, useState } from "react";
import { Autocomplete, Loader, TagsInput, Text, type OptionsFilter } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ApiError, fetchJson, withQuery } from "../../api/client";
import type { Schemas } from "../../api/types";
import { texts } from "../../text";
import { mayFocus } from "./focus";
import { isObject, type Path, type Schema, type Values } from "./types";

const words = texts.create.form.choices;

// Source is where the choices of a form come from.
export type Source = {
  // template is the reference of the Template.
  template: string;
  // asksCluster tells that the form has a field for the cluster.
  asksCluster: boolean;
  cluster: string;
  namespace: string;
};

// ChoiceSource has the source of the form around a field; undefined where there is no cluster, as in the playground.
export const ChoiceSource = createContext<Source | undefined>(undefined);

const clusterFields = ["deliveryCluster", "cluster"];

// sourceOf returns the source for the present values of a form.
export function sourceOf(template: string, properties: ReadonlyMap<string, Schema>, values: Values): Source {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const field = clusterFields.find((name) => properties.has(name));
  return { template, asksCluster: field !== undefined, cluster: field === undefined ? "" : text(values[field]), namespace: text(values["namespace"]) };
}

// pointerOf returns the JSON Pointer of a field.
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");
}

// most is the number of suggestions that are shown.
const most = 50;

// problem says why there are no suggestions.
function problem(error: unknown): string {
  if (error instanceof ApiError) {
    switch (error.status) {
      case 400:
      case 404:
        return words.none;
      case 403:
        return words.forbidden;
      case 503:
        return words.unreachable;
    }
  }
  return words.failed;
}

function useChoices(path: Path, options: Schema, text: string, active: boolean) {
  const source = useContext(ChoiceSource);
  const [search] = useDebouncedValue(text.trim(), 200);
  const perNamespace = options["namespace"] === "form";
  const missing = !source ? words.noCluster : source.asksCluster && source.cluster === "" ? words.chooseCluster : perNamespace && source.namespace === "" ? words.chooseNamespace : undefined;
  const query = { template: source?.template, field: pointerOf(path), cluster: source?.cluster || undefined, namespace: perNamespace ? source?.namespace : undefined, search: search || undefined };
  const found = useQuery({
    queryKey: ["choices", query],
    queryFn: ({ signal }) => fetchJson<Schemas["Choices"]>(withQuery("/api/composer-ingestor/choices", query), { signal }),
    enabled: missing === undefined && active,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    retry: false,
  });
  const note = missing ?? (found.isError ? problem(found.error) : found.data?.more ? words.more : undefined);
  return { items: missing === undefined && !found.isError ? (found.data?.items ?? []) : [], loading: found.isFetching, settled: search === text.trim() && !found.isPlaceholderData, note };
}

// LiveChoices is a field that suggests values from a cluster. Any text is allowed: the API server decides.
export function LiveChoices({ formData, onChange, fieldPathId, schema, uiSchema, name, required, disabled, readonly, rawErrors, autofocus }: FieldProps) {
  const options = getUiOptions(uiSchema) as Record<string, unknown> & ReturnType<typeof getUiOptions>;
  const [searching, setSearching] = useState("");
  const [active, setActive] = useState(false);
  const choices = isObject(options["choices"]) ? options["choices"] : {};
  const found = useChoices(fieldPathId.path, choices, searching, active);
  const many = typesOf(schema).includes("array");
  const integer = typesOf(many && isObject(schema.items) ? schema.items : schema).includes("integer");
  const labels = new Map(found.items.map(({ value, label }) => [String(value), label ?? ""]));
  const valueOf = (text: string) => (integer && /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text);
  const kind = typeof choices["kind"] === "string" ? choices["kind"] : "";
  const about = options.description ?? schema.description;
  const shared = {
    id: fieldPathId.$id,
    label: options.title ?? schema.title ?? name,
    description: about === undefined && found.note === undefined ? undefined : <About text={about} note={found.note} />,
    placeholder: options.placeholder ?? (found.note === undefined ? words.find(kind) : undefined),
    required,
    disabled,
    readOnly: readonly,
    autoFocus: mayFocus(autofocus),
    data: [...labels.keys()],
    limit: most,
    // The server has filtered already. Until its response arrives, filter here, so that a quick user does not select a stale
    // suggestion.
    filter: (({ options: all, limit }) => all.filter((o) => found.settled || ("value" in o && fits(String(o.value), labels, searching))).slice(0, limit)) satisfies OptionsFilter,
    renderOption: ({ option }: { option: { value: unknown } }) => <Choice value={String(option.value)} label={labels.get(String(option.value)) ?? ""} />,
    rightSection: found.loading ? <Loader size={14} aria-label={words.loading} /> : undefined,
    error: rawErrors && rawErrors.length > 0 ? rawErrors.join(" ") : undefined,
    // The list is read when the user comes to the field, not for every field of a form that is opened.
    onFocus: () => setActive(true),
    maxDropdownHeight: 280,
    // The list belongs to the form, for screen readers too.
    comboboxProps: { withinPortal: false },
    spellCheck: false,
  };
  return many ? (
    <TagsInput
      {...shared}
      value={Array.isArray(formData) ? formData.map(String) : []}
      searchValue={searching}
      onSearchChange={setSearching}
      clearable={false}
      onChange={(next) => onChange(next.length === 0 ? undefined : next.map(valueOf), fieldPathId.path)}
    />
  ) : (
    <Autocomplete
      {...shared}
      value={formData === undefined || formData === null ? "" : String(formData)}
      onChange={(next) => {
        setSearching(labels.has(next) ? "" : next);
        onChange(next === "" ? undefined : valueOf(next), fieldPathId.path);
      }}
    />
  );
}

// About is the description of the field, and why there are no suggestions. Both describe the input to screen readers.
function About({ text, note }: { text?: string; note?: string }) {
  return (
    <>
      {text}
      <Text span size="xs" display="block" role="status">
        {note}
      </Text>
    </>
  );
}

function typesOf(schema: { type?: unknown }): unknown[] {
  return [schema.type].flat();
}

function fits(value: string, labels: ReadonlyMap<string, string>, text: string): boolean {
  return `${value} ${labels.get(value) ?? ""}`.toLowerCase().includes(text.trim().toLowerCase());
}

function Choice({ value, label }: { value: string; label: string }) {
  return (
    <span>
      {/* The space separates the two for screen readers. */}
      {value}{" "}
      {label !== "" && (
        <Text span size="xs" c="dimmed" ml={4}>
          {label}
        </Text>
      )}
    </span>
  );
}
