// The design tokens: every size and color of the portal. Styles use them as CSS variables or through Mantine's props;
// tokens.test.ts checks the contrast of each pair and that no style has a color of its own.

export const fonts = {
  sans: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  mono: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
};

// Text sizes and line heights in pixels. Lines are on a grid of 4 pixels.
export const sizes = {
  xs: [12, 16],
  sm: [13, 20],
  md: [14, 20],
  lg: [16, 24],
  xl: [18, 28],
} as const;

export const headings = {
  h1: [24, 32],
  h2: [20, 28],
  h3: [16, 24],
  h4: [14, 20],
  h5: [13, 20],
  h6: [12, 16],
} as const;

// Distances in pixels, on a grid of 4 pixels.
export const spacing = { xs: 8, sm: 12, md: 16, lg: 24, xl: 32 };

export const radius = { xs: 2, sm: 4, md: 6, lg: 8, xl: 12 };

// Ten shades from light to dark, as Mantine expects.
type Shades = [string, string, string, string, string, string, string, string, string, string];

// The accent marks what can be clicked and what is selected; nothing else.
export const accent: Shades = ["#eef0fe", "#dfe3fd", "#bfc7fb", "#9aa6f8", "#7987f1", "#6170e8", "#505fda", "#4350c6", "#3945a8", "#2c3684"];

// The color of actions that destroy something.
export const danger: Shades = ["#fdeced", "#f9d5d7", "#f0b3b7", "#e88a90", "#de5c65", "#d1303d", "#bf2733", "#a81c28", "#8c1721", "#6e1119"];

// accentShade is the shade of filled buttons.
export const accentShade = 7;

export const gray: Shades = ["#f7f8fa", "#f0f1f4", "#e6e8ec", "#dcdfe4", "#c7ccd4", "#a3aab6", "#7c8492", "#586070", "#343945", "#16181d"];

// Mantine's dark shades: text first, backgrounds last.
export const dark: Shades = ["#e9ebef", "#c8ccd3", "#a0a7b3", "#7d8491", "#353941", "#272a30", "#1b1d21", "#121316", "#0d0e10", "#090a0b"];

type Scheme = {
  body: string;
  // panel is the background of the sidebar, table heads and code.
  panel: string;
  hover: string;
  border: string;
  text: string;
  dimmed: string;
  placeholder: string;
  anchor: string;
  // mark is the background of the selected item.
  mark: string;
};

// Tone is a status color: text, background and border of a label, and the color of a line or dot.
type Tone = { text: string; background: string; border: string; line: string };

export const toneNames = ["success", "progress", "warning", "error"] as const;

export type ToneName = (typeof toneNames)[number];

// Syntax colors of YAML and JSON.
type Code = { key: string; string: string; number: string; comment: string; keyword: string };

// Colors of the phases in the chart of runs.
type Plot = { read: string; load: string; transform: string; write: string; rest: string; bad: string };

export const schemes: Record<"light" | "dark", { base: Scheme; tones: Record<ToneName, Tone>; code: Code; plot: Plot }> = {
  light: {
    base: {
      body: "#ffffff",
      panel: "#f8f9fb",
      hover: "#f0f1f4",
      border: "#e3e6eb",
      text: "#16181d",
      dimmed: "#586070",
      placeholder: "#687080",
      anchor: "#3f4cc4",
      mark: "#eceefd",
    },
    tones: {
      success: { text: "#14603a", background: "#e8f6ee", border: "#a9dbbf", line: "#1f9254" },
      progress: { text: "#17568f", background: "#e7f2fc", border: "#a9cff2", line: "#2a7ac4" },
      warning: { text: "#7d4700", background: "#fff4de", border: "#eccb86", line: "#bd7500" },
      error: { text: "#a81c28", background: "#fdeced", border: "#f0b3b7", line: "#d1303d" },
    },
    code: { key: "#0b5394", string: "#8f1d1d", number: "#116644", comment: "#586070", keyword: "#6f1d8f" },
    plot: { read: "#1971c2", load: "#2b8a3e", transform: "#d9480f", write: "#7048e8", rest: "#7c8492", bad: "#d1303d" },
  },
  dark: {
    base: {
      body: "#121316",
      panel: "#17191d",
      hover: "#202329",
      border: "#2b2e35",
      text: "#e9ebef",
      dimmed: "#a0a7b3",
      placeholder: "#8f96a3",
      anchor: "#a3b0ff",
      mark: "#242949",
    },
    tones: {
      success: { text: "#8edcb0", background: "#11301f", border: "#2c6948", line: "#3fae74" },
      progress: { text: "#93c6f7", background: "#10283f", border: "#2c567f", line: "#559fdf" },
      warning: { text: "#f3c672", background: "#33250b", border: "#71541d", line: "#d19a35" },
      error: { text: "#ffa3a8", background: "#3a171a", border: "#7b3338", line: "#ef6a72" },
    },
    code: { key: "#9cbcff", string: "#f0a48c", number: "#9bd49b", comment: "#a0a7b3", keyword: "#d3a6f0" },
    plot: { read: "#4dabf7", load: "#69db7c", transform: "#ffa94d", write: "#b197fc", rest: "#7d8491", bad: "#ef6a72" },
  },
};
