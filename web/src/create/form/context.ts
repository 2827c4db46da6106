// FormContext is the shared state of the fields of a form.
export type FormContext = {
  // fields is the number of fields on the page: large pages start with collapsed sections.
  fields: number;
  // secrets are values that are neither stored in the browser nor shown.
  secrets: Record<string, string>;
  setSecret: (name: string, value: string) => void;
  // setBroken records that the text of a field cannot be parsed; undefined clears it.
  setBroken: (id: string, why: string | undefined) => void;
};

// crowded is the number of fields up to which all sections start open.
export const crowded = 40;
