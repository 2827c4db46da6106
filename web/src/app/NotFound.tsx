import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { Page } from "../components/Page";

export function NotFound() {
  return (
    <Page title="Page not found">
      <Stack gap="xs">
        <Text>The link may be outdated or mistyped.</Text>
        <Anchor component={Link} to="/catalog">
          Go to catalog
        </Anchor>
      </Stack>
    </Page>
  );
}
