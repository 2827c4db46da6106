import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accent, accentShade, danger, headings, schemes, sizes, spacing, toneNames } from "./tokens";

// luminance and contrast are those of WCAG 2.
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

describe.each(["light", "dark"] as const)("%s", (name) => {
  const { base, tones, code, plot } = schemes[name];
  const backgrounds = [base.body, base.panel, base.hover];
  const onAll = { text: base.text, dimmed: base.dimmed, anchor: base.anchor, ...Object.fromEntries(toneNames.map((t) => [t, tones[t].text])) };

  test.each(Object.entries(onAll))("%s is readable on every background", (_, color) => {
    for (const background of backgrounds) {
      expect(contrast(color, background)).toBeGreaterThanOrEqual(4.5);
    }
  });
  test.each(toneNames)("a label of %s is readable, and its line is visible", (tone) => {
    expect(contrast(tones[tone].text, tones[tone].background)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(base.text, tones[tone].background)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(tones[tone].line, base.body)).toBeGreaterThanOrEqual(3);
  });
  test.each(Object.entries(code))("code: %s is readable", (_, color) => expect(contrast(color, base.panel)).toBeGreaterThanOrEqual(4.5));
  test.each(Object.entries(plot))("chart: %s is visible", (_, color) => expect(contrast(color, base.body)).toBeGreaterThanOrEqual(3));
  test("placeholder and selected item are readable", () => {
    expect(contrast(base.placeholder, base.body)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(base.anchor, base.mark)).toBeGreaterThanOrEqual(4.5);
    expect(contrast("#ffffff", accent[accentShade])).toBeGreaterThanOrEqual(4.5);
    expect(contrast("#ffffff", danger[accentShade])).toBeGreaterThanOrEqual(4.5);
  });
});

test("distances and lines are on a grid of 4 pixels", () => {
  const all = [...Object.values(spacing), ...Object.values(sizes).map(([, h]) => h), ...Object.values(headings).map(([, h]) => h)];
  expect(all.filter((n) => n % 4 !== 0)).toEqual([]);
});

test("no style and no component has a color of its own", () => {
  const folder = join(import.meta.dirname, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((f) => /\.(css|tsx?)$/.test(f) && !f.includes(".test.") && !f.endsWith("tokens.ts") && !f.endsWith("schema.d.ts"));
  expect(files.length).toBeGreaterThan(100);
  const color = /#[0-9a-f]{3,8}\b(?!["'`]?\))|\brgba?\(|\bhsl\(|color="(red|green|yellow|orange|blue|teal)"/i;
  const found = files.flatMap((f) =>
    readFileSync(join(folder, f), "utf8")
      .split("\n")
      .filter((line) => color.test(line))
      .map((line) => `${f}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
