import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { Page } from "../parts/Page";

export function NotFound() {
  return (
    <Page title="There is nothing at this address">
      <Stack gap="xs">
        <Text>The link may be old, or a letter is wrong.</Text>
        <Anchor component={Link} to="/catalog">
          Look in the catalog
        </Anchor>
      </Stack>
    </Page>
  );
}
