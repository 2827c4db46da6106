import { useCallback } from "react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { fetchJson, path } from "../api/client";
import { useSession } from "../app/session";

type Stored = { items: ({ value: unknown } | null)[] };

// Setting is a value that the portal keeps for a user, and that the browser keeps for a guest.
export type Setting<T> = {
  value: T;
  // known tells whether the value was read.
  known: boolean;
  set: (next: T) => void;
  // error says why the last value was not saved.
  error?: Error;
};

// useSetting reads and writes a setting. parse returns the value of what was stored, which may be anything.
export function useSetting<T>(bucket: string, key: string, parse: (stored: unknown) => T): Setting<T> {
  const { guest, state, userRef } = useSession();
  const client = useQueryClient();
  const queryKey = ["setting", userRef, bucket, key];
  const { data, isSuccess } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      if (guest) {
        return readLocal(bucket, key) ?? null;
      }
      const { items } = await fetchJson<Stored>("/api/user-settings/multiget", { json: { items: [{ bucket, key }] }, signal });
      return items[0]?.value ?? null;
    },
    enabled: state === "signed-in",
    staleTime: 60_000,
  });
  const save = useMutation({
    mutationFn: async (next: T) => {
      if (guest) {
        writeLocal(bucket, key, next);
        return;
      }
      await fetchJson(path("/api/user-settings/buckets", bucket, "keys", key), { method: "PUT", json: { value: next } });
    },
    // Show the new value at once, and the stored one again if it was not saved.
    onMutate: (next) => client.setQueryData(queryKey, next),
    onError: () => client.invalidateQueries({ queryKey }),
  });
  const { mutate } = save;
  return { value: parse(data), known: isSuccess, set: useCallback((next: T) => mutate(next), [mutate]), error: save.error ?? undefined };
}

const localName = (bucket: string, key: string) => `portal-setting/${bucket}/${key}`;

function readLocal(bucket: string, key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(localName(bucket, key)) ?? "null");
  } catch {
    // Unreadable or without storage: there is no setting.
    return null;
  }
}

function writeLocal(bucket: string, key: string, value: unknown) {
  localStorage.setItem(localName(bucket, key), JSON.stringify(value));
}
