import { ActionIcon, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { Icon, type IconName } from "../parts/Icon";

const next: Record<MantineColorScheme, MantineColorScheme> = { auto: "light", light: "dark", dark: "auto" };
const icons: Record<MantineColorScheme, IconName> = { auto: "auto", light: "sun", dark: "moon" };
const words: Record<MantineColorScheme, string> = { auto: "as the system", light: "light", dark: "dark" };

// Colors switches between light, dark, and what the system prefers.
export function Colors() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const label = `Colours: ${words[colorScheme]}. Change to ${words[next[colorScheme]]}.`;
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" c="var(--mantine-color-text)" aria-label={label} title={label} onClick={() => setColorScheme(next[colorScheme])}>
      <Icon name={icons[colorScheme]} />
    </ActionIcon>
  );
}
