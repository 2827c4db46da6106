// yamlHeight is the height of the text on the YAML tab, below its switch.
export const yamlHeight = "max(320px, calc(100dvh - 280px))";
