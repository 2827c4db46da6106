import { ActionIcon, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { Icon, type IconName } from "../components/Icon";
import { texts } from "../text";

const next: Record<MantineColorScheme, MantineColorScheme> = { auto: "light", light: "dark", dark: "auto" };
const icons: Record<MantineColorScheme, IconName> = { auto: "auto", light: "sun", dark: "moon" };
const words: Record<MantineColorScheme, string> = texts.app.theme;

// ThemeToggle switches between the light, dark and system themes.
export function ThemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const label = texts.app.theme.label(words[colorScheme], words[next[colorScheme]]);
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" c="var(--mantine-color-text)" aria-label={label} title={label} onClick={() => setColorScheme(next[colorScheme])}>
      <Icon name={icons[colorScheme]} />
    </ActionIcon>
  );
}
