import { createContext, useContext, useState } from "react";
import { Autocomplete, Loader, TagsInput, Text, type OptionsFilter } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { useQuery } from "@tanstack/react-query";
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
  // asksCluster and asksNamespace tell that the form has a field for the cluster and for the namespace.
  asksCluster: boolean;
  asksNamespace: boolean;
  cluster: string;
  namespace: string;
};

// ChoiceSource has the source of the form around a field; undefined where there is no cluster, as in the playground.
export const ChoiceSource = createContext<Source | undefined>(undefined);

// sourceOf returns the source for the present values of a form. clusterField is its field for the cluster.
export function sourceOf(template: string, clusterField: string | undefined, properties: ReadonlyMap<string, Schema>, values: Values): Source {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return {
    template,
    asksCluster: clusterField !== undefined,
    asksNamespace: properties.has("namespace"),
    cluster: clusterField === undefined ? "" : text(values[clusterField]),
    namespace: text(values["namespace"]),
  };
}

// pointerOf returns the JSON Pointer of a field.
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");
}

// most is the number of suggestions that are shown.
const most = 50;

// pause is how long the input must rest before values are requested.
const pause = 200;

// problem says why there are no suggestions.
function problem(error: unknown): string {
  if (error instanceof ApiError) {
    switch (error.status) {
      case 400:
        return /^Choose a cluster first/.test(error.message) ? words.chooseCluster : /^Choose a namespace first/.test(error.message) ? words.chooseNamespace : words.none;
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

// missingFor says what the form lacks to suggest values; undefined if it lacks nothing.
function missingFor(source: Source | undefined, perNamespace: boolean): string | undefined {
  if (!source) {
    return words.noCluster;
  }
  if (perNamespace && !source.asksNamespace) {
    return words.none;
  }
  if (source.asksCluster && source.cluster === "") {
    return words.chooseCluster;
  }
  return perNamespace && source.namespace === "" ? words.chooseNamespace : undefined;
}

function useChoices(path: Path, options: Schema, text: string, active: boolean) {
  const source = useContext(ChoiceSource);
  const perNamespace = options["namespace"] === "form";
  const missing = missingFor(source, perNamespace);
  // list is what the values are from. Users type namespaces too, so a request waits for the end of any typing.
  const list = JSON.stringify({ template: source?.template, field: pointerOf(path), cluster: source?.cluster || undefined, namespace: perNamespace ? source?.namespace : undefined });
  const now = JSON.stringify([list, text.trim()]);
  const [settled] = useDebouncedValue(now, pause);
  const [listed, search] = JSON.parse(settled) as [string, string];
  const current = missing === undefined && listed === list;
  const found = useQuery({
    queryKey: ["choices", listed, search],
    queryFn: ({ signal }) => fetchJson<Schemas["Choices"]>(withQuery("/api/composer-ingestor/choices", { ...(JSON.parse(listed) as Record<string, string>), search: search || undefined }), { signal }),
    enabled: current && active,
    // While another search runs, the values of the last one stay, but not those of another cluster or namespace.
    placeholderData: (last, query) => (query?.queryKey[1] === listed ? last : undefined),
    staleTime: 10_000,
    retry: false,
  });
  const data = current && !found.isError ? found.data : undefined;
  const more = data !== undefined && (data.more || data.items.length > most);
  const none = data?.items.length === 0 && search === "" && !found.isPlaceholderData;
  const note = missing ?? (current && found.isError ? problem(found.error) : more ? words.more : none ? words.none : undefined);
  return { items: data?.items ?? [], loading: found.isFetching, settled: settled === now && !found.isPlaceholderData, note };
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
