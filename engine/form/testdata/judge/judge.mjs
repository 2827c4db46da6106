// The form component, validator and template language of a stock portal, as the judges of our forms. Each line on standard
// input is a form with its cases, each line on standard output what came of it. The argument is the folder node_modules.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/judge.js`);
const { createElement } = require("react");
const { renderToStaticMarkup } = require("react-dom/server");
const { getDefaultFormState, retrieveSchema } = require("@rjsf/utils");
const { default: Form } = require("@rjsf/core");
const { default: validator } = require("@rjsf/validator-ajv8");
const nunjucks = require("nunjucks");

// How defaults get into a form: as a stock portal has it, and as our pages do.
const behaviours = {
  stock: { allOf: "populateDefaults" },
  ours: { emptyObjectFields: "populateAllDefaults", arrayMinItems: { populate: "requiredOnly" }, constAsDefaults: "never", mergeDefaultsIntoFormData: "useFormDataIfPresent" },
};
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);

// split takes the ui: keywords out of a page into a tree of their own, as the stock portal does before it shows a page.
function split(schema) {
  if (!isObject(schema)) {
    return [schema, {}];
  }
  const out = {};
  const ui = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith("ui:")) {
      ui[key] = value;
    } else if (key === "properties" && isObject(value)) {
      out[key] = {};
      for (const [name, property] of Object.entries(value)) {
        const [s, u] = split(property);
        out[key][name] = s;
        ui[name] = u;
      }
    } else if (key === "items" || key === "additionalProperties") {
      const [s, u] = split(value);
      out[key] = s;
      if (isObject(value)) {
        ui[key] = u;
      }
    } else if (["oneOf", "anyOf", "allOf"].includes(key) && Array.isArray(value)) {
      out[key] = value.map((branch) => merged(branch, ui));
    } else if (["then", "else"].includes(key)) {
      out[key] = merged(value, ui);
    } else if (key === "dependencies" && isObject(value)) {
      out[key] = Object.fromEntries(Object.entries(value).map(([name, d]) => [name, merged(d, ui)]));
    } else {
      out[key] = value;
    }
  }
  return [out, ui];
}

function merged(branch, ui) {
  const [schema, inner] = split(branch);
  for (const [name, u] of Object.entries(inner)) {
    ui[name] ??= u;
  }
  return schema;
}

// sample returns a value that is valid for a schema, as a user would enter it.
function sample(schema, samples) {
  if (schema.default !== undefined) {
    return schema.default;
  }
  if (Array.isArray(schema.enum)) {
    return schema.enum.find((v) => v !== null) ?? schema.enum[0];
  }
  const choice = schema.anyOf ?? schema.oneOf;
  const type = Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") : schema.type;
  if (type === undefined && Array.isArray(choice)) {
    return sample(choice[0], samples);
  }
  switch (type) {
    case "boolean":
      return false;
    case "integer":
    case "number": {
      const least = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 1 : schema.exclusiveMinimum + 1);
      const step = schema.multipleOf ?? 1;
      return Math.min(Math.ceil(least / step) * step, schema.maximum ?? Infinity);
    }
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}, samples));
    case "string": {
      const written = { date: "2026-01-02", "date-time": "2026-01-02T03:04:05Z", email: "a@example.org", hostname: "a.example.org", ipv4: "10.0.0.1", ipv6: "::1", uri: "https://example.org", uuid: "6ba7b810-9dad-11d1-80b4-00c04fd430c8" };
      return (samples[schema.pattern ?? choice?.[0]?.pattern] ?? written[schema.format] ?? "abc").padEnd(schema.minLength ?? 0, "a").slice(0, schema.maxLength);
    }
  }
  if (isObject(schema.additionalProperties) && schema.minProperties > 0) {
    return { key: sample(schema.additionalProperties, samples) };
  }
  return schema.minProperties > 0 ? { key: "value" } : {};
}

// at returns the schema of a place in the data, with the conditions that hold there.
function at(root, data, steps) {
  let schema = root;
  for (const [i, step] of steps.entries()) {
    const here = steps.slice(0, i).reduce((v, s) => v?.[s], data);
    schema = retrieveSchema(validator, schema, root, here);
    const choice = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].find((b) => b?.properties?.[step]);
    schema = schema.properties?.[step] ?? choice?.properties?.[step] ?? (Array.isArray(here) ? schema.items : schema.additionalProperties) ?? {};
  }
  return retrieveSchema(validator, schema === true ? {} : schema, root, steps.reduce((v, s) => v?.[s], data));
}

const pointer = (path) => path.split("/").slice(1).map((s) => s.replace(/~1/g, "/").replace(/~0/g, "~"));
const errorsOf = (schema, data) => validator.rawValidation(schema, data).errors ?? [];
const say = (e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`;

// answer gives one value that is missing; false if nothing is missing that could be given.
function answer(schema, data, errors, samples) {
  for (const e of errors) {
    const steps = pointer(e.instancePath);
    if (e.keyword === "required") {
      steps.push(e.params.missingProperty);
    } else if (!["minItems", "minProperties"].includes(e.keyword) && !(e.keyword === "type" && (e.data ?? null) === null)) {
      continue;
    }
    const last = steps.pop();
    if (last === undefined) {
      continue;
    }
    const holder = steps.reduce((v, s) => v?.[s], data);
    if (!isObject(holder) && !Array.isArray(holder)) {
      continue;
    }
    holder[last] = sample(at(schema, data, [...steps, last]), samples);
    return true;
  }
  return false;
}

// walk goes through the pages like a user who enters the values, and if fill is true also fills in everything else that
// is required. It returns what is submitted, or the errors that prevent it.
function walk(pages, values, samples, fill, behaviour) {
  let state = structuredClone(values);
  for (const [schema] of pages) {
    let data = getDefaultFormState(validator, schema, state, schema, false, behaviour);
    let errors = errorsOf(schema, data);
    for (let i = 0; fill && errors.length > 0 && i < 200 && answer(schema, data, errors, samples); i++) {
      data = getDefaultFormState(validator, schema, data, schema, false, behaviour);
      errors = errorsOf(schema, data);
    }
    if (errors.length > 0) {
      return { errors: errors.slice(0, 5).map(say) };
    }
    state = { ...state, ...data };
  }
  return { sent: state };
}

// cleared removes what the form filled in by itself where the values have nothing, like a user who empties those fields.
function cleared(sent, values) {
  if (Array.isArray(sent) && Array.isArray(values)) {
    return sent.slice(0, values.length).map((item, i) => cleared(item, values[i]));
  }
  if (!isObject(sent) || !isObject(values)) {
    return sent;
  }
  return Object.fromEntries(Object.entries(sent).flatMap(([key, value]) => (Object.hasOwn(values, key) ? [[key, cleared(value, values[key])]] : [])));
}

const environment = nunjucks.configure({ autoescape: false, tags: { variableStart: "${{", variableEnd: "}}" } });

function isSingle(text) {
  const parsed = nunjucks.parser.parse(text, [], { autoescape: false, tags: { variableStart: "${{", variableEnd: "}}" } });
  return parsed.children.length === 1 && !(parsed.children[0]?.children?.[0] instanceof nunjucks.nodes.TemplateData);
}

// render evaluates the expressions of a manifest as the stock scaffolder does.
function render(manifest, parameters) {
  return JSON.parse(JSON.stringify(manifest), (_, value) => {
    if (typeof value !== "string") {
      return value;
    }
    if (isSingle(value)) {
      const text = environment.renderString(value.replace(/\${{(.+)}}/g, "${{ ( $1 ) | dump }}"), { parameters });
      return text === "" ? undefined : JSON.parse(text);
    }
    const text = environment.renderString(value, { parameters });
    return text === "" ? undefined : text;
  });
}

// empty returns the ids of the fields that a browser requires, and that have no value: they prevent a submit.
function empty(pages, sent) {
  return pages.flatMap(([schema, uiSchema]) => {
    const markup = renderToStaticMarkup(createElement(Form, { schema, uiSchema, validator, formData: sent, experimental_defaultFormStateBehavior: behaviours.stock }));
    const fields = [...markup.matchAll(/<(input|textarea|select)([^>]*)>(?:(.*?)<\/\1>)?/gs)].filter(([, , attributes]) => / required=""/.test(attributes));
    const missing = fields.filter(([, tag, attributes, content]) => (tag === "input" ? !/ value="[^"]/.test(attributes) && !/ type="(checkbox|radio)"/.test(attributes) : tag === "select" ? !/ selected=""/.test(content) : !content));
    return missing.map(([, , attributes]) => attributes.match(/ id="([^"]*)"/)?.[1] ?? "?");
  });
}

function judge({ pages: given, manifest, samples, cases }) {
  const pages = given.map((page) => split({ type: "object", ...page }));
  const out = { cases: [] };
  try {
    for (const [schema, uiSchema] of pages) {
      out.markup = (out.markup ?? 0) + renderToStaticMarkup(createElement(Form, { schema, uiSchema, validator, experimental_defaultFormStateBehavior: behaviours.stock })).length;
    }
  } catch (err) {
    out.error = `cannot render: ${err.message}`;
  }
  for (const { values, fill, behaviour } of cases) {
    try {
      const { sent, errors } = walk(pages, values, samples ?? {}, fill, behaviours[behaviour]);
      if (errors) {
        out.cases.push({ errors });
        continue;
      }
      const one = { manifest: render(manifest, sent) };
      if (fill && behaviour === "stock") {
        one.empty = empty(pages, sent);
      }
      if (!fill && behaviour === "ours") {
        const exact = cleared(sent, values);
        const wrong = pages.flatMap(([schema]) => errorsOf(schema, exact)).map(say);
        Object.assign(one, wrong.length > 0 ? { wrong } : { exact: render(manifest, exact) });
      }
      out.cases.push(one);
    } catch (err) {
      out.cases.push({ errors: [`throws: ${err.stack}`] });
    }
  }
  return out;
}

// The component prints warnings on the console that are irrelevant here: a browser would still show the form.
console.error = () => {};
console.warn = () => {};
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(judge(JSON.parse(line)))}\n`);
}
