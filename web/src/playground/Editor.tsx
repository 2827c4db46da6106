import { useEffect, useMemo, useRef } from "react";
import CodeMirror, { Decoration, EditorView, Prec, type ReactCodeMirrorRef } from "@uiw/react-codemirror";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { linter, lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { tags } from "@lezer/highlight";
import { yamlTokens, type TokenKind } from "../components/yamlTokens";
import { nonce } from "../design/theme";
import { texts } from "../text";
import type { Finding } from "./preview";
import { rangeOf } from "./range";

// Jump is a position to go to. Each jump is a new object, so that the same position can be used twice.
export type Jump = { line: number; column: number };

type Props = {
  text: string;
  onChange: (text: string) => void;
  findings: Finding[];
  jump?: Jump;
  // describedBy is the id of the keyboard hints.
  describedBy: string;
};

const highlighting = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--code-key)" },
    { tag: [tags.string, tags.content, tags.special(tags.string), tags.attributeValue], color: "var(--code-string)" },
    { tag: tags.comment, color: "var(--code-comment)" },
    { tag: [tags.keyword, tags.meta, tags.labelName, tags.typeName], color: "var(--code-keyword)" },
  ]),
);

// mostTokens bounds the work after each key press.
const mostTokens = 10_000;

const marks: Partial<Record<TokenKind, Decoration>> = {
  number: Decoration.mark({ class: "cm-yaml-number" }),
  keyword: Decoration.mark({ class: "cm-yaml-keyword" }),
};

// scalars marks numbers, true, false and null, which the grammar of the editor does not tell from strings.
const scalars = Prec.highest(
  EditorView.decorations.compute(["doc"], ({ doc }) =>
    Decoration.set(yamlTokens(doc.toString(), mostTokens).flatMap(({ kind, start, end }) => marks[kind]?.range(start, end) ?? [])),
  ),
);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-text)", height: "100%" },
  // The frame shows the focus: here, the gutter would cover one side of it.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "13px", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-dimmed)", borderRight: "1px solid var(--mantine-color-default-border)" },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-yaml-number, .cm-yaml-number *": { color: "var(--code-number)" },
  ".cm-yaml-keyword, .cm-yaml-keyword *": { color: "var(--code-keyword)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--mantine-color-default-hover)" },
  ".cm-tooltip": { backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-text)", border: "1px solid var(--mantine-color-default-border)" },
  ".cm-panels": { backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-text)" },
});

// When typing over a selection, the browser adds inline styles, which the Content-Security-Policy blocks and logs. The
// editor replaces the selection itself instead.
const overwriting = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { selection } = view.state;
    const text = event.data;
    if (event.inputType !== "insertText" || !text || event.isComposing || selection.ranges.every((r) => r.empty)) {
      return false;
    }
    const { from, to } = selection.main;
    const write = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, write))) {
      view.dispatch(write());
    }
    return true;
  },
});

// Editor is the text editor. It is large and loaded on demand.
export default function Editor({ text, onChange, findings, jump, describedBy }: Props) {
  const editor = useRef<ReactCodeMirrorRef>(null);
  const extensions = useMemo(
    () => [
      yaml(),
      // Findings come from outside.
      linter(null),
      lintGutter(),
      look,
      overwriting,
      highlighting,
      scalars,
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({ "aria-label": texts.playground.editorLabel, "aria-describedby": describedBy, tabindex: "0" }),
    ],
    [describedBy],
  );

  useEffect(() => {
    const view = editor.current?.view;
    if (view) {
      view.dispatch(setDiagnostics(view.state, diagnosticsOf(view, findings)));
    }
  }, [findings]);

  useEffect(() => {
    const view = editor.current?.view;
    if (!view || !jump) {
      return;
    }
    const { from } = rangeOf(view.state.doc, jump.line, jump.column);
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    view.focus();
  }, [jump]);

  return (
    <CodeMirror
      ref={editor}
      value={text}
      onChange={onChange}
      extensions={extensions}
      theme="none"
      height="100%"
      // Tab leaves the editor, like any other field.
      indentWithTab={false}
      basicSetup={{ autocompletion: false, foldGutter: true, highlightSelectionMatches: false }}
      onCreateEditor={(view) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view, findings)))}
      style={{ height: "100%" }}
    />
  );
}

function diagnosticsOf(view: EditorView, findings: Finding[]): Diagnostic[] {
  return findings
    .filter((f) => f.line !== undefined)
    .map((f) => ({
      ...rangeOf(view.state.doc, f.line ?? 1, f.column ?? 1),
      severity: f.severity,
      source: f.rule,
      message: f.hint ? `${f.message}. ${f.hint}.` : f.message,
    }))
    .sort((a, b) => a.from - b.from);
}
