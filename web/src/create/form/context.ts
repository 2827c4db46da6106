// FormContext is what the fields of a form know of the form.
export type FormContext = {
  // fields is how many the page has: a large one opens less at once.
  fields: number;
  // secrets are values that are neither kept in the browser nor shown.
  secrets: Record<string, string>;
  setSecret: (name: string, value: string) => void;
  // setBroken notes that the text of a field cannot be read, or that it can again.
  setBroken: (id: string, why: string | undefined) => void;
};

// crowded is how many fields a page may have for all its sections to be open at first.
export const crowded = 40;
