import { isObject, type Schema } from "./types";
import { lookup } from "../../components/lookup";

// The Kubernetes name patterns that most forms use.
const dnsLabel = /^\^\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\$$/;
const dnsName = /^\^\[a-z0-9\]\(\[-\.a-z0-9\]\*\[a-z0-9\]\)\?\$$/;

const typeWords: Record<string, string> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
  null: "null",
};

const formatWords: Record<string, string> = {
  "date-time": "a date and time, such as 2030-01-31T12:00:00Z",
  date: "a date, such as 2030-01-31",
  time: "a time, such as 12:00:00",
  email: "an email address",
  ipv4: "an IPv4 address, such as 192.0.2.1",
  ipv6: "an IPv6 address, such as 2001:db8::1",
  uri: "a URL with a scheme, such as https://example.org",
  hostname: "a host name, such as db.example.org",
  uuid: "a UUID",
};

function list(values: unknown[]): string {
  const shown = values.slice(0, 8).map((v) => (typeof v === "string" && v !== "" ? v : JSON.stringify(v)));
  return shown.join(", ") + (values.length > shown.length ? `, … (${values.length} in total)` : "");
}

function count(n: unknown, one: string, many: string): string {
  return `${String(n)} ${n === 1 ? one : many}`;
}

// validationMessage explains what a schema keyword requires of a value.
export function validationMessage(keyword: string, schema: Schema, value: unknown): string {
  const asked = schema[keyword];
  switch (keyword) {
    case "type": {
      const all = (Array.isArray(asked) ? asked : [asked]).filter((t) => t !== "null");
      return `Must be ${all.map((t) => lookup(typeWords, t) ?? String(t)).join(" or ")}.`;
    }
    case "enum":
      return Array.isArray(asked) ? (asked.length === 1 ? `Must be ${list(asked)}.` : `Choose one of: ${list(asked)}.`) : "Choose one of the values.";
    case "const":
      return asked === true ? "Select this to continue." : `Must be ${list([asked])}.`;
    case "minLength":
      return asked === 1 ? "Must not be empty." : `Must have at least ${count(asked, "character", "characters")} (has ${lengthOf(value)}).`;
    case "maxLength":
      return `Must have at most ${count(asked, "character", "characters")} (has ${lengthOf(value)}).`;
    case "pattern":
      return patternWords(String(asked));
    case "format":
      return `Must be ${lookup(formatWords, asked) ?? `in the format ${String(asked)}`}.`;
    case "minimum":
      return `Must be ${String(asked)} or more.`;
    case "maximum":
      return `Must be ${String(asked)} or less.`;
    case "exclusiveMinimum":
      return `Must be more than ${String(asked)}.`;
    case "exclusiveMaximum":
      return `Must be less than ${String(asked)}.`;
    case "multipleOf":
      return `Must be a multiple of ${String(asked)}.`;
    case "minItems":
      return `Add at least ${count(asked, "entry", "entries")}.`;
    case "maxItems":
      return `At most ${count(asked, "entry", "entries")} allowed.`;
    case "uniqueItems":
      return "Entries must be unique.";
    case "minProperties":
      return `Add at least ${count(asked, "entry", "entries")}.`;
    case "maxProperties":
      return `At most ${count(asked, "entry", "entries")} allowed.`;
    case "required":
      return "This field is required.";
    case "oneOf":
      return "Must match exactly one option.";
    case "anyOf":
      return "Must match at least one option.";
    case "not":
      return notWords(asked);
    case "contains":
      return "A required entry is missing from the list.";
    case "propertyNames":
      return "This name is not allowed.";
  }
  return "This is not allowed here.";
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? [...value].length : 0;
}

function patternWords(pattern: string): string {
  if (dnsLabel.test(pattern)) {
    return "Use lowercase letters, digits and dashes; start and end with a letter or digit.";
  }
  if (dnsName.test(pattern)) {
    return "Use lowercase letters, digits, dashes and dots; start and end with a letter or digit.";
  }
  return `Must match ${pattern}`;
}

function notWords(asked: unknown): string {
  if (isObject(asked) && Array.isArray(asked["required"])) {
    return `Leave out ${asked["required"].join(" or ")}.`;
  }
  return "This value is not allowed.";
}
