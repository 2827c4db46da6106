import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "..");

// Attributes whose value a user sees or hears.
const shown = new Set(["title", "label", "aria-label", "placeholder", "alt", "description", "legend", "lead", "hint"]);

// isSentence reports whether a string reads like a text for users: words that begin with a capital letter.
const isSentence = (s: string) => /^[A-Z][a-z]+,? [a-z(]/.test(s) || /^[A-Z][a-z]+ [a-z]+[.:]?$/.test(s);

// textsIn returns the texts for users that a source file has of its own.
function textsIn(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node) && /new Error\(/.test(node.getText())) {
      // An error of the program, not of the user.
      return;
    }
    if (ts.isJsxElement(node) && node.openingElement.tagName.getText() === "Kbd") {
      // The name of a key.
      return;
    }
    if (ts.isJsxText(node) && /[A-Za-z]{2}/.test(node.text)) {
      found.push(node.text.trim());
    }
    if (ts.isJsxAttribute(node) && shown.has(node.name.getText()) && node.initializer && ts.isStringLiteral(node.initializer) && /[A-Za-z]{2}/.test(node.initializer.text)) {
      found.push(node.initializer.text);
    } else if (ts.isStringLiteralLike(node) && isSentence(node.text)) {
      found.push(node.text);
    } else if (ts.isTemplateExpression(node) && (isSentence(node.head.text) || node.templateSpans.some((s) => /(^| )[a-z]+ [a-z]+( |$)/.test(s.literal.text)))) {
      found.push(node.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

test("the check finds texts", () => {
  expect(textsIn("a.tsx", 'const a = <p title="Hello">No results</p>; const b = "Cannot load the page"; const c = `Cannot load ${a}`;')).toEqual(["Hello", "No results", "Cannot load the page", "`Cannot load ${a}`"]);
  expect(textsIn("a.tsx", 'const a = <p className="very-long" />; const b = "application/json"; throw new Error("Must not happen")')).toEqual([]);
});

// The page of the design has samples only.
const samples = "design/DesignPage.tsx";

// pending are the areas whose texts still have to move.
const pending: string[] = [];

test("all texts are in the file of the language", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((f) => /\.tsx?$/.test(f) && !f.includes(".test.") && !f.startsWith("text/") && !f.endsWith("schema.d.ts") && f !== samples && !pending.some((p) => f.startsWith(p)));
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((f) => textsIn(f, readFileSync(join(folder, f), "utf8")).map((t) => `${f}: ${t}`))).toEqual([]);
});
