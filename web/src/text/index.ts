import { en } from "./en";

// Texts is what a language must provide.
export type Texts = typeof en;

// languages has one file for each language. The server writes the language into the page.
const languages: Record<string, Texts> = { en };

const chosen = document.documentElement.lang;

// language is the language of the texts, for dates and numbers.
export const language = Object.hasOwn(languages, chosen) ? chosen : "en";

// texts has all texts of the portal, by area.
export const texts: Texts = languages[language]!;

// number formats a number.
export function number(value: number): string {
  return value.toLocaleString(language);
}
