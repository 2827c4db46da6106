import { isObject, type Schema } from "./types";
import { lookup } from "../../components/lookup";
import { texts } from "../../text";

const words = texts.create.message;

// The Kubernetes name patterns that most forms use.
const dnsLabel = /^\^\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\$$/;
const dnsName = /^\^\[a-z0-9\]\(\[-\.a-z0-9\]\*\[a-z0-9\]\)\?\$$/;

function list(values: unknown[]): string {
  const shown = values.slice(0, 8).map((v) => (typeof v === "string" && v !== "" ? v : JSON.stringify(v)));
  return values.length > shown.length ? words.total(shown.join(", "), values.length) : shown.join(", ");
}

// validationMessage explains what a schema keyword requires of a value.
export function validationMessage(keyword: string, schema: Schema, value: unknown): string {
  const asked = schema[keyword];
  switch (keyword) {
    case "type": {
      const all = (Array.isArray(asked) ? asked : [asked]).filter((t) => t !== "null");
      return words.mustBe(all.map((t) => lookup(words.types, t) ?? String(t)).join(words.or));
    }
    case "enum":
      return Array.isArray(asked) ? (asked.length === 1 ? words.mustBe(list(asked)) : words.oneOf(list(asked))) : words.oneOfValues;
    case "const":
      return asked === true ? words.confirm : words.mustBe(list([asked]));
    case "minLength":
      return asked === 1 ? words.notEmpty : words.minLength(Number(asked), lengthOf(value));
    case "maxLength":
      return words.maxLength(Number(asked), lengthOf(value));
    case "pattern":
      return patternWords(String(asked));
    case "format":
      return words.mustBe(lookup(words.formats, asked) ?? words.otherFormat(String(asked)));
    case "minimum":
      return words.minimum(String(asked));
    case "maximum":
      return words.maximum(String(asked));
    case "exclusiveMinimum":
      return words.above(String(asked));
    case "exclusiveMaximum":
      return words.below(String(asked));
    case "multipleOf":
      return words.multipleOf(String(asked));
    case "minItems":
    case "minProperties":
      return words.minEntries(Number(asked));
    case "maxItems":
    case "maxProperties":
      return words.maxEntries(Number(asked));
    case "uniqueItems":
      return words.unique;
    case "required":
      return words.required;
    case "oneOf":
      return words.exactlyOne;
    case "anyOf":
      return words.atLeastOne;
    case "not":
      return notWords(asked);
    case "contains":
      return words.entryMissing;
    case "propertyNames":
      return words.nameNotAllowed;
  }
  return words.notAllowedHere;
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? [...value].length : 0;
}

function patternWords(pattern: string): string {
  if (dnsLabel.test(pattern)) {
    return words.dnsLabel;
  }
  if (dnsName.test(pattern)) {
    return words.dnsName;
  }
  return words.pattern(pattern);
}

function notWords(asked: unknown): string {
  if (isObject(asked) && Array.isArray(asked["required"])) {
    return words.leaveOut(asked["required"].join(words.or));
  }
  return words.notAllowed;
}
