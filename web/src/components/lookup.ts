// lookup returns the entry of a table for an untrusted key. A plain table[key] would also find "constructor".
export function lookup<T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}
