import { createContext } from "react";
import type { Path } from "./types";

// FormContext is the shared state of the fields of a form.
export type FormContext = {
  // fields is the number of fields on the page: large pages start with collapsed sections.
  fields: number;
  // secrets are values that are neither stored in the browser nor shown.
  secrets: Record<string, string>;
  setSecret: (name: string, value: string) => void;
  // setBroken records that the text of a field cannot be parsed; undefined clears it.
  setBroken: (id: string, why: string | undefined) => void;
  // rules tells that the help of fields is the validation rules of a definition.
  rules: boolean;
};

// Reveal has the path of a field to show: sections around it open. It is not in FormContext, which the form library passes on
// one render later.
export const Reveal = createContext<Path | undefined>(undefined);

// within reports whether a path leads to or through another one.
export function within(outer: Path, path: Path | undefined): boolean {
  return path !== undefined && outer.length <= path.length && outer.every((step, i) => String(step) === String(path[i]));
}

// crowded is the number of fields up to which all sections start open.
export const crowded = 40;
