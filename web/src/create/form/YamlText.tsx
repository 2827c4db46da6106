import { useEffect, useMemo, useRef, useState } from "react";
import { Textarea } from "@mantine/core";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { parseDocument, visit } from "yaml";
import { texts } from "../../text";
import { toYaml } from "../../components/toYaml";
import type { FormContext } from "./context";
import { Required } from "./templates";
import { isObject } from "./types";
import styles from "./Form.module.css";

const words = texts.create.form;

// Read is the parsed value, or the problem and its line.
export type Read = { value?: unknown; problem?: string; line?: number };

// The YAML 1.1 spellings of booleans.
const yes = /^(?:y|Y|yes|Yes|YES|on|On|ON)$/;
const no = /^(?:n|N|no|No|NO|off|Off|OFF)$/;

// readYaml parses a text as an object or a list. Blank text means no value. Reserved names have their own fields.
export function readYaml(text: string, type: unknown, reserved: string[] = []): Read {
  if (text.trim() === "") {
    return {};
  }
  // Limit aliases: they can expand a small text to a huge value.
  const doc = parseDocument(text, { prettyErrors: true, uniqueKeys: true, merge: false });
  const error = doc.errors[0];
  if (error) {
    const at = error.linePos?.[0];
    const what = error.message.split("\n")[0]!.replace(/ at line \d+.*$/, "");
    return at ? { problem: words.yamlAt(at.line, at.col, what), line: at.line } : { problem: what };
  }
  // kubectl reads them as booleans unless they are quoted. Keys stay text.
  visit(doc, {
    Scalar(key, node) {
      if (key !== "key" && node.type === "PLAIN" && typeof node.value === "string" && (yes.test(node.value) || no.test(node.value))) {
        node.value = yes.test(node.value);
      }
    },
  });
  let value: unknown;
  try {
    value = doc.toJS({ maxAliasCount: 50 });
  } catch (err) {
    return { problem: err instanceof Error ? err.message : String(err) };
  }
  if (value === null || value === undefined) {
    return {};
  }
  if (type === "object" && !isObject(value)) {
    return { problem: words.yamlObject, line: 1 };
  }
  if (type === "array" && !Array.isArray(value)) {
    return { problem: words.yamlList, line: 1 };
  }
  const twice = isObject(value) ? reserved.find((key) => Object.hasOwn(value, key)) : undefined;
  if (twice !== undefined) {
    return { problem: words.yamlReserved(twice) };
  }
  return { value };
}

function written(value: unknown): string {
  if (value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)) {
    return "";
  }
  return typeof value === "string" ? value : toYaml(value);
}

// YamlText is a text area for an object. While the text cannot be parsed, it is kept and the form cannot be submitted.
export function YamlText(props: FieldProps) {
  const { formData, onChange, fieldPathId, schema, uiSchema, name, required, disabled, readonly, registry, rawErrors } = props;
  const options = getUiOptions(uiSchema);
  const { setBroken } = registry.formContext as FormContext;
  const id = fieldPathId.$id;
  const type = Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") : schema.type;
  const [text, setText] = useState(() => written(formData));
  const last = useRef<unknown>(formData);
  const numbers = useRef<HTMLPreElement>(null);
  const reserved = options["reserved"] as string[] | undefined;
  const { problem, line } = useMemo(() => readYaml(text, type, reserved), [text, type, reserved]);

  // The value changed from outside: a restored draft or a prefilled form.
  useEffect(() => {
    if (formData !== last.current && JSON.stringify(formData) !== JSON.stringify(last.current)) {
      last.current = formData;
      setText(written(formData));
    }
  }, [formData]);
  useEffect(() => {
    setBroken(id, problem);
    return () => setBroken(id, undefined);
  }, [id, problem, setBroken]);

  const write = (next: string) => {
    setText(next);
    const read = readYaml(next, type, reserved);
    last.current = read.problem === undefined ? read.value : next;
    onChange(last.current, fieldPathId.path);
  };
  const title = options.title ?? schema.title ?? name;
  const error = problem ?? (rawErrors && rawErrors.length > 0 ? rawErrors.join(" ") : undefined);
  return (
    <Textarea
      id={id}
      className={styles.yaml}
      label={
        <>
          {title}
          {required && <Required />}
        </>
      }
      description={options.description ?? schema.description}
      placeholder={options.placeholder ?? words.yamlExample}
      value={text}
      error={error}
      onChange={(e) => write(e.currentTarget.value)}
      onKeyDown={indent}
      onScroll={(e) => numbers.current?.scrollTo(0, e.currentTarget.scrollTop)}
      leftSection={<Numbers ref={numbers} count={text.split("\n").length} wrong={line} />}
      leftSectionWidth={40}
      leftSectionProps={{ className: styles.gutter }}
      disabled={disabled}
      readOnly={readonly}
      rows={Math.min(Math.max(text.split("\n").length + 1, 4), 24)}
      resize="vertical"
      spellCheck={false}
    />
  );
}

// Numbers shows line numbers, to find the line of an error.
function Numbers({ ref, count, wrong }: { ref: React.Ref<HTMLPreElement>; count: number; wrong?: number }) {
  const all = (from: number, to: number) => Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => `${from + i}\n`).join("");
  const at = wrong === undefined || wrong > count ? count + 1 : wrong;
  return (
    <pre ref={ref} className={styles.numbers} aria-hidden>
      {all(1, at - 1)}
      {at <= count && <span className={styles.wrong}>{`${at}\n`}</span>}
      {all(at + 1, count)}
    </pre>
  );
}

// indent keeps the indentation on Enter. Tab still moves to the next field.
function indent(e: React.KeyboardEvent<HTMLTextAreaElement>) {
  if (e.key !== "Enter" || e.ctrlKey || e.metaKey || e.altKey) {
    return;
  }
  const area = e.currentTarget;
  const before = area.value.slice(0, area.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const spaces = /^ */.exec(line)![0] + (line.trimEnd().endsWith(":") ? "  " : "");
  if (spaces !== "") {
    e.preventDefault();
    // The browser can undo this insertion.
    document.execCommand("insertText", false, `\n${spaces}`);
  }
}
