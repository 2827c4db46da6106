import { useState, type FormEvent, type ReactNode } from "react";
import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import { texts } from "../text";
import { Icon } from "./Icon";
import { Page } from "./Page";

const words = texts.app.notFound;

// NotFound is the page for everything that does not exist or that the user may not see. It offers a search, for the name
// that was looked for if there is one. Children are what else it offers.
export function NotFound({ title = words.title, hint = words.hint, name = "", children }: { title?: string; hint?: string; name?: string; children?: ReactNode }) {
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
        {children}
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
