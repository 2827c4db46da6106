import { useSetting } from "./settings";

// View is a saved search of the catalog: a name and the parameters of the URL.
export type View = { name: string; search: string };

function isView(value: unknown): value is View {
  const view = value as View | null;
  return typeof view === "object" && view !== null && typeof view.name === "string" && typeof view.search === "string";
}

function parseViews(stored: unknown): View[] {
  return Array.isArray(stored) ? stored.filter(isView) : [];
}

// useViews returns the saved views of the user, in the order in which they were saved.
export function useViews() {
  const { value: views, known, set, error } = useSetting("portal.catalog", "views", parseViews);
  return {
    views,
    known,
    error,
    // save stores a view; one with the same name is replaced.
    save: (view: View) => set([...views.filter((v) => v.name !== view.name), view]),
    remove: (name: string) => set(views.filter((v) => v.name !== name)),
  };
}
