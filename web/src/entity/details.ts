// The data of a cluster is untrusted: every value is checked.

// Row is a field of an object, as text.
export type Row = { path: string; value: string };

// mostRows is how many rows a table has at most.
export const mostRows = 100;

// longestValue is how much of a value a table shows.
const longestValue = 500;

// machinery are the fields by which Crossplane connects objects; the page shows them elsewhere.
const machinery = [
  "crossplane",
  "resourceRef",
  "resourceRefs",
  "claimRef",
  "compositionRef",
  "compositionSelector",
  "compositionRevisionRef",
  "compositionRevisionSelector",
  "compositionUpdatePolicy",
  "compositeDeletePolicy",
  "writeConnectionSecretToRef",
  "publishConnectionDetailsTo",
];

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// rowsOf returns the fields of a spec or status, and how many there are. Conditions and Crossplane's own fields are left out.
export function rowsOf(part: unknown): { rows: Row[]; total: number } {
  const rows: Row[] = [];
  let total = 0;
  const add = (path: string, value: unknown) => {
    if (isMap(value) && Object.keys(value).length > 0) {
      for (const [key, inner] of Object.entries(value)) {
        if (path !== "" || (key !== "conditions" && !machinery.includes(key))) {
          add(path === "" ? key : `${path}.${key}`, inner);
        }
      }
      return;
    }
    total++;
    if (rows.length < mostRows) {
      rows.push({ path, value: textOf(value) });
    }
  };
  if (isMap(part) && Object.keys(part).length > 0) {
    add("", part);
  }
  return { rows, total };
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : Array.isArray(value) && value.every((v) => !isMap(v) && !Array.isArray(v)) ? value.join(", ") : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

// SecretName is the name of a Secret.
export type SecretName = { name: string; namespace: string };

const named = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

// secretsOf returns the Secrets with connection details that an object names.
export function secretsOf(object: unknown): SecretName[] {
  if (!isMap(object)) {
    return [];
  }
  const own = isMap(object["metadata"]) ? object["metadata"]["namespace"] : undefined;
  const found: SecretName[] = [];
  const add = (ref: unknown) => {
    const { name, namespace = own } = isMap(ref) ? ref : {};
    // The command would do something else with other names.
    if (typeof name === "string" && named.test(name) && typeof namespace === "string" && named.test(namespace) && !found.some((f) => f.name === name && f.namespace === namespace)) {
      found.push({ name, namespace });
    }
  };
  for (const part of ["spec", "status"]) {
    const of = object[part];
    if (isMap(of)) {
      for (const [key, value] of Object.entries(of)) {
        if (/secret(to)?ref$/i.test(key)) {
          add(value);
        }
      }
    }
  }
  return found;
}

// commandFor returns the command that shows the data of a Secret.
export function commandFor({ name, namespace }: SecretName): string {
  return `kubectl get secret ${name} --namespace ${namespace} --output go-template='{{range $k, $v := .data}}{{$k}}: {{$v | base64decode}}{{"\\n"}}{{end}}'`;
}
