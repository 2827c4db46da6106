import { createTheme, localStorageColorSchemeManager, type CSSVariablesResolver } from "@mantine/core";

const sans = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const mono = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';

export const theme = createTheme({
  fontFamily: sans,
  fontFamilyMonospace: mono,
  headings: { fontFamily: sans, fontWeight: "600" },
  primaryColor: "blue",
  // Dark enough for white text on a button, bright enough on a dark page: both pass AA.
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: "md",
  cursorType: "pointer",
  autoContrast: true,
  // Alert colors are used for border and icon only: as text, some fail AA on a dark page.
  components: { Alert: { styles: { title: { color: "var(--mantine-color-text)" } } } },
});

// Mantine's dimmed text and light links fail AA on both backgrounds.
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#5c636a",
    "--mantine-color-placeholder": "#6b7178",
    "--mantine-color-anchor": "#1a5fb4",
    "--mantine-color-error": "#c92a2a",
  },
  dark: {
    "--mantine-color-dimmed": "#a6abb1",
    "--mantine-color-placeholder": "#9aa0a6",
    "--mantine-color-anchor": "#8ab8f5",
    "--mantine-color-error": "#ff9b9b",
  },
});

export const colors = localStorageColorSchemeManager({ key: "portal-colors" });

// nonce is required by the Content-Security-Policy on every style element.
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
