import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { highlight, most } from "./useHighlight";
import { yamlTokens } from "./yamlTokens";

// said writes the tokens of a text as kind and text.
const said = (text: string) => yamlTokens(text, 1000).map((t) => `${t.kind} ${text.slice(t.start, t.end)}`);

const cases: Record<string, { reason: string; text: string; want: string[] }> = {
  map: { reason: "a plain value is a string unless it is a number or a keyword", text: "a: b c\nn: -1.5\nt: true\nz: ~\n", want: ["key a", "string b c", "key n", "number -1.5", "key t", "keyword true", "key z", "keyword ~"] },
  list: { reason: "dashes are no values", text: "- a: 1\n  b: x\n- - y\n-\n", want: ["key a", "number 1", "key b", "string x", "string y"] },
  comment: { reason: "a number sign begins a comment only after a space", text: "# all: of it\na: b#c # d: e\n", want: ["comment # all: of it", "key a", "string b#c", "comment # d: e"] },
  quotes: { reason: "quoted texts may contain anything", text: `"a: b": 'it''s # x'\nc: "d\\"e" # f\n`, want: [`key "a: b"`, "string 'it''s # x'", "key c", `string "d\\"e"`, "comment # f"] },
  block: { reason: "a block scalar is one string", text: "a: |-\n  b: 1\n\n  # c\nd: 2\n", want: ["key a", "string   b: 1\n\n  # c", "key d", "number 2"] },
  "block in a list": { reason: "the text is indented more than its key", text: "- a: >\n    x\n  b: 1\n- |\n  y\n", want: ["key a", "string     x", "key b", "number 1", "string   y"] },
  "key with colon": { reason: "only a colon before a space ends a key", text: "example.org/a:b: c:d\nurl: https://x.org/a\n", want: ["key example.org/a:b", "string c:d", "key url", "string https://x.org/a"] },
  flow: { reason: "braces and brackets are no values", text: `a: {b: 1, "c": [x, null]}\nd: []\n`, want: ["key a", "key b", "number 1", `key "c"`, "string x", "keyword null", "key d"] },
  json: { reason: "JSON is YAML", text: `{\n  "a": "b: c",\n  "n": 12,\n  "t": false\n}`, want: [`key "a"`, `string "b: c"`, `key "n"`, "number 12", `key "t"`, "keyword false"] },
  "json on a line": { reason: "JSON is YAML", text: `{"a":{"b":[1,"x"]},"c":true}`, want: [`key "a"`, `key "b"`, "number 1", `string "x"`, `key "c"`, "keyword true"] },
  documents: { reason: "a separator is no value", text: "---\na: 1\n---\n", want: ["key a", "number 1"] },
  anchors: { reason: "anchors and aliases have no color", text: "a: *b\nc: !t\n", want: ["key a", "key c"] },
  broken: { reason: "nothing is required of a text", text: `: \n"a\n'b\n{\n]\n`, want: ["string :", `string "a`, "string 'b"] },
};

describe("yamlTokens", () => {
  it.each(Object.entries(cases))("%s", (_, { reason, text, want }) => {
    expect(said(text), reason).toEqual(want);
  });

  it("is limited and takes linear time", () => {
    const lines = "key: value\n".repeat(100_000);
    expect(yamlTokens(lines, 5000)).toHaveLength(5000);
    // One line of two megabytes without colon.
    const began = performance.now();
    yamlTokens(`{${'"a b",'.repeat(300_000)}}`, Infinity);
    yamlTokens("x ".repeat(1_000_000), Infinity);
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});

describe("highlight", () => {
  const highlights = new Map<string, Set<{ startOffset: number; endOffset: number }>>();
  beforeEach(() => {
    highlights.clear();
    vi.stubGlobal("CSS", { highlights });
    vi.stubGlobal("Highlight", Set);
  });
  afterEach(() => vi.unstubAllGlobals());

  it("shares highlights between texts, and removes those of one text", () => {
    const [first, second] = [highlight(new Text("a: 1")), highlight(new Text("b: 2"))];
    expect([...highlights.get("yaml-key")!].map((r) => [r.startOffset, r.endOffset])).toEqual([[0, 1], [0, 1]]);
    first();
    expect(highlights.get("yaml-key")!.size).toBe(1);
    expect(highlights.get("yaml-number")!.size).toBe(1);
    second();
    expect(highlights.get("yaml-key")!.size).toBe(0);
  });

  it("is limited", () => {
    highlight(new Text("a: b\n".repeat(most)));
    expect([...highlights.values()].reduce((sum, h) => sum + h.size, 0)).toBe(most);
  });

  it("does nothing without the browser's support", () => {
    vi.stubGlobal("CSS", {});
    expect(() => highlight(new Text("a: 1"))()).not.toThrow();
  });
});
