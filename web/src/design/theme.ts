import { createTheme, localStorageColorSchemeManager, rem, type CSSVariablesResolver } from "@mantine/core";
import { accent, accentShade, danger, dark, fonts, gray, headings, radius, schemes, sizes, spacing } from "./tokens";

// map returns an object with the same keys and converted values.
function map<K extends string, V, W>(of: Record<K, V>, convert: (value: V) => W): Record<K, W> {
  return Object.fromEntries(Object.entries<V>(of).map(([key, value]) => [key, convert(value)])) as Record<K, W>;
}

type Line = readonly [size: number, height: number];

export const theme = createTheme({
  fontFamily: fonts.sans,
  fontFamilyMonospace: fonts.mono,
  fontSizes: map<string, Line, string>(sizes, ([size]) => rem(size)),
  lineHeights: map<string, Line, string>(sizes, ([size, height]) => String(height / size)),
  headings: {
    fontFamily: fonts.sans,
    fontWeight: "600",
    sizes: map<keyof typeof headings, Line, { fontSize: string; lineHeight: string }>(headings, ([size, height]) => ({ fontSize: rem(size), lineHeight: String(height / size) })),
  },
  spacing: map(spacing, rem),
  radius: map(radius, rem),
  colors: { accent, danger, gray, dark },
  primaryColor: "accent",
  primaryShade: accentShade,
  defaultRadius: "md",
  cursorType: "pointer",
  autoContrast: true,
  components: {
    Paper: { defaultProps: { radius: "lg" } },
    Button: { defaultProps: { fw: 500, size: "sm" } },
    // Descriptions and errors of fields are no smaller than the smallest text.
    InputWrapper: { vars: () => ({ label: {}, error: { "--input-error-size": "var(--mantine-font-size-xs)" }, description: { "--input-description-size": "var(--mantine-font-size-xs)" } }) },
  },
});

// variables makes the tokens CSS variables: --panel, --mark, --success-text, --code-key and so on.
export const variables: CSSVariablesResolver = () => ({ variables: {}, light: variablesOf("light"), dark: variablesOf("dark") });

function variablesOf(name: keyof typeof schemes): Record<string, string> {
  const { base, tones, code, plot } = schemes[name];
  const found: Record<string, string> = {
    "--mantine-color-body": base.body,
    "--mantine-color-text": base.text,
    "--mantine-color-dimmed": base.dimmed,
    "--mantine-color-placeholder": base.placeholder,
    "--mantine-color-anchor": base.anchor,
    "--mantine-color-error": tones.error.text,
    "--mantine-color-default-border": base.border,
    "--mantine-color-default-hover": base.hover,
    "--mantine-color-default": base.body,
    "--panel": base.panel,
    "--mark": base.mark,
  };
  const groups = { ...tones, code, plot };
  for (const [group, parts] of Object.entries(groups)) {
    for (const [part, color] of Object.entries(parts)) {
      found[`--${group}-${part}`] = color;
    }
  }
  return found;
}

export const colors = localStorageColorSchemeManager({ key: "portal-colors" });

// nonce is required by the Content-Security-Policy on every style element.
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
