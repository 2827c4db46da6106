import { useEffect, type ReactNode } from "react";
import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { Breadcrumbs, type Crumb } from "./Breadcrumbs";
import { Name } from "./Name";

type Props = {
  title: string;
  // icon is shown before the title.
  icon?: ReactNode;
  lead?: ReactNode;
  actions?: ReactNode;
  // trail leads from the top of the portal to the parent of this page.
  trail?: Crumb[];
  children: ReactNode;
};

// Page renders breadcrumbs, heading, actions and content of a page and sets the title of the browser tab.
export function Page({ title, icon, lead, actions, trail, children }: Props) {
  useEffect(() => {
    const before = document.title;
    document.title = `${title} · ${before.split(" · ").at(-1)}`;
    return () => {
      document.title = before;
    };
  }, [title]);
  return (
    <Stack gap="md">
      <Box>
        {trail && <Breadcrumbs trail={trail} />}
        <Group justify="space-between" align="flex-start" gap="sm">
          <Group flex="1 1 240px" miw={0} gap="sm" wrap="nowrap" align="flex-start">
            {icon}
            <Box miw={0}>
              <Title order={1} style={{ overflowWrap: "anywhere" }}>
                <Name>{title}</Name>
              </Title>
              {lead && (
                <Text c="dimmed" component="div">
                  {lead}
                </Text>
              )}
            </Box>
          </Group>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </Box>
      {children}
    </Stack>
  );
}
