import { useState } from "react";
import { Autocomplete, Loader, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { fetchJson } from "../../api/client";
import { formatRef, refOf, titleOf } from "../../api/entity";
import type { EntityPage } from "../../api/types";
import { useSession } from "../../app/session";
import { texts } from "../../text";
import { mayFocus } from "./focus";
import { isObject } from "./types";

const words = texts.create.form;

// most is the number of suggestions.
const most = 25;

// kindsOf returns the kinds that a field allows, from the options that Templates use.
function kindsOf(options: Record<string, unknown>, otherwise: string[]): string[] {
  const filters = Array.isArray(options["catalogFilter"]) ? options["catalogFilter"] : [options["catalogFilter"]];
  const kinds = filters.flatMap((f) => (isObject(f) ? [f["kind"]].flat() : []));
  const all = [...kinds, ...[options["allowedKinds"] ?? []].flat()].filter((k): k is string => typeof k === "string");
  return all.length > 0 ? all : otherwise;
}

function useEntities(kinds: string[], text: string) {
  const [term] = useDebouncedValue(text.trim(), 200);
  const found = useQuery({
    queryKey: ["picker", kinds, term],
    queryFn: ({ signal }) =>
      fetchJson<EntityPage>("/api/catalog/entities/by-query", {
        json: {
          limit: most,
          fields: ["kind", "metadata.name", "metadata.namespace", "metadata.title", "spec.profile.displayName"],
          orderBy: [{ field: "metadata.name", order: "asc" }],
          query: kinds.length > 0 ? { kind: { $in: kinds } } : undefined,
          fullTextFilter: term === "" ? undefined : { term: term.replace(/^.*[:/]/, "") },
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return { ...found, settled: term === text.trim() && !found.isPlaceholderData };
}

function fits(ref: string, name: string, text: string): boolean {
  return `${ref} ${name}`.toLowerCase().includes(text.trim().toLowerCase());
}

// picker creates a field that suggests catalog entities. Any text is allowed: the entity may be created later.
function picker(kinds: string[], mine: boolean) {
  return function Picker({ formData, onChange, fieldPathId, schema, uiSchema, name, required, disabled, readonly, rawErrors, autofocus }: FieldProps) {
    const options = getUiOptions(uiSchema) as Record<string, unknown> & ReturnType<typeof getUiOptions>;
    const value = typeof formData === "string" ? formData : "";
    const [searching, setSearching] = useState("");
    const allowedKinds = kindsOf(options, kinds);
    const found = useEntities(allowedKinds, searching);
    const { ownershipRefs } = useSession();
    const names = new Map<string, string>();
    if (mine && searching.trim() === "") {
      ownershipRefs.filter((ref) => allowedKinds.some((k) => ref.toLowerCase().startsWith(`${k.toLowerCase()}:`))).forEach((ref) => names.set(ref, words.yours));
    }
    (found.data?.items ?? []).forEach((e) => {
      const ref = formatRef(refOf(e));
      const shown = titleOf(e);
      names.set(ref, shown === e.metadata?.name ? (names.get(ref) ?? "") : shown);
    });
    return (
      <Autocomplete
        id={fieldPathId.$id}
        label={options.title ?? schema.title ?? name}
        description={options.description ?? schema.description}
        placeholder={options.placeholder ?? words.findEntity(allowedKinds.map((k) => k.toLowerCase()))}
        required={required}
        disabled={disabled}
        readOnly={readonly}
        autoFocus={mayFocus(autofocus)}
        value={value}
        data={[...names.keys()]}
        // The server has filtered already. Until its response arrives, filter here, so that a quick user does not select a
        // stale suggestion.
        filter={({ options: all }) => (found.settled ? all : all.filter((o) => "value" in o && fits(String(o.value), names.get(String(o.value)) ?? "", searching)))}
        renderOption={({ option }) => <Proposal entity={String(option.value)} name={names.get(String(option.value)) ?? ""} />}
        rightSection={found.isFetching ? <Loader size={14} /> : undefined}
        error={rawErrors && rawErrors.length > 0 ? rawErrors.join(" ") : found.isError ? words.searchFailed : undefined}
        onChange={(next) => {
          setSearching(names.has(next) ? "" : next);
          onChange(next === "" ? undefined : next, fieldPathId.path);
        }}
        maxDropdownHeight={280}
        spellCheck={false}
      />
    );
  };
}

function Proposal({ entity, name }: { entity: string; name: string }) {
  return (
    <span>
      {name || entity}
      {name !== "" && (
        <Text span size="xs" c="dimmed" ml={8}>
          {entity}
        </Text>
      )}
    </span>
  );
}

export const OwnerPicker = picker(["Group", "User"], true);
export const EntityPicker = picker([], false);
