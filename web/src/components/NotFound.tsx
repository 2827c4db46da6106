import { useState, type FormEvent } from "react";
import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import { texts } from "../text";
import { Icon } from "./Icon";
import { Page } from "./Page";

const words = texts.app.notFound;

// NotFound is the page for everything that does not exist or that the user may not see. It offers a search, for the name
// that was looked for if there is one.
export function NotFound({ title = words.title, hint = words.hint, name = "" }: { title?: string; hint?: string; name?: string }) {
  const navigate = useNavigate();
  const [term, setTerm] = useState(name);
  const search = (e: FormEvent) => {
    e.preventDefault();
    navigate(`/catalog?${new URLSearchParams(term.trim() === "" ? {} : { q: term.trim() })}`);
  };
  return (
    <Page title={title}>
      <Stack gap="md" align="flex-start" maw={560}>
        <Text>{hint}</Text>
        <form role="search" aria-label={words.search} onSubmit={search}>
          <Group gap="xs">
            <TextInput type="search" value={term} onChange={(e) => setTerm(e.currentTarget.value)} aria-label={words.search} leftSection={<Icon name="search" />} w={280} />
            <Button type="submit" variant="default">
              {words.search}
            </Button>
          </Group>
        </form>
        <Anchor component={Link} to="/">
          {words.goHome}
        </Anchor>
      </Stack>
    </Page>
  );
}
