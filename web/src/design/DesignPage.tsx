import type { ReactNode } from "react";
import { Anchor, Button, Checkbox, Code, Group, Kbd, NumberInput, Paper, SegmentedControl, Select, Stack, Switch, Table, Tabs, Text, Textarea, TextInput, Title } from "@mantine/core";
import type { EntityPart } from "../api/types";
import { Command } from "../components/Command";
import { Diff } from "../components/Diff";
import { EntityIcon } from "../components/EntityIcon";
import { Facet } from "../components/Facet";
import { Icon, iconNames } from "../components/Icon";
import { Notice } from "../components/Notice";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Status } from "../components/Status";
import { Tag } from "../components/Tag";
import { Yaml } from "../components/Yaml";
import { headings, schemes, sizes, spacing, toneNames } from "./tokens";
import styles from "./Design.module.css";

// DesignPage shows every shared component in every state. It is not linked: developers open /design, and a test compares
// it with pictures. Its texts are samples and not translated.
export default function DesignPage() {
  return (
    <Page title="Design" lead="Every shared component and state" trail={[{ label: "Home", to: "/" }]} actions={<Button>Action</Button>} icon={<EntityIcon entity={{ kind: "System", metadata: { name: "design" } }} size={36} />}>
      <Section title="Text">
        {Object.keys(headings).slice(0, 4).map((h, i) => (
          <Title key={h} order={(i + 1) as 1 | 2 | 3 | 4}>
            {`Heading ${i + 1}`}
          </Title>
        ))}
        {Object.keys(sizes).map((size) => (
          <Text key={size} size={size}>
            {`Text ${size}: databases, buckets and networks`}
          </Text>
        ))}
        <Text c="dimmed">Dimmed text</Text>
        <Group>
          <Anchor href="/design">Link</Anchor> <Code>code</Code> <Kbd>Ctrl K</Kbd>
        </Group>
      </Section>
      <Section title="Colors">
        <Group gap="xs">
          {Object.keys(schemes.light.base).map((name) => (
            <Swatch key={name} name={name} color={colorOf(name)} />
          ))}
          {toneNames.flatMap((tone) => ["text", "background", "border", "line"].map((part) => <Swatch key={tone + part} name={`${tone} ${part}`} color={`var(--${tone}-${part})`} />))}
        </Group>
      </Section>
      <Section title="Spacing">
        {Object.entries(spacing).map(([name, size]) => (
          <Group key={name} gap="sm">
            <Text size="xs" w={24}>
              {name}
            </Text>
            <div className={styles.bar} style={{ width: size * 4 }} />
          </Group>
        ))}
      </Section>
      <Section title="Buttons">
        <Group>
          <Button>Primary</Button>
          <Button variant="default">Default</Button>
          <Button variant="subtle">Subtle</Button>
          <Button color="danger">Delete</Button>
          <Button color="danger" variant="outline">
            Delete
          </Button>
          <Button disabled>Disabled</Button>
          <Button loading>Loading</Button>
          <Button size="xs" variant="default" leftSection={<Icon name="refresh" size={14} />}>
            Small
          </Button>
        </Group>
      </Section>
      <Section title="Status">
        <Group>
          {(["plain", ...toneNames] as const).map((tone) => (
            <Tag key={tone} tone={tone}>
              {tone}
            </Tag>
          ))}
          {["ready", "not ready", "unknown"].map((readiness) => (
            <Status key={readiness} entity={{ kind: "Resource", metadata: { name: "a" }, spec: { readiness } as never }} />
          ))}
        </Group>
        {toneNames.map((tone) => (
          <Notice key={tone} tone={tone} title={`Notice: ${tone}`}>
            What happened, and what to do about it.
          </Notice>
        ))}
        <ErrorAlert error={new Error("Cannot load the catalog: the database is unavailable")} retry={() => undefined} />
      </Section>
      <Section title="Fields">
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput label="Text" description="Description of the field" placeholder="Example" required />
          <TextInput label="Text with an error" error="Must be a valid name" defaultValue="Not Valid" />
          <NumberInput label="Number" suffix=" GB" defaultValue={20} />
          <Select label="Choice" data={["small", "large"]} defaultValue="small" />
        </Group>
        <Textarea label="Long text" placeholder="Several lines" />
        <Group>
          <Checkbox label="Checkbox" defaultChecked />
          <Switch label="Switch" defaultChecked />
          <SegmentedControl data={["One", "Two"]} aria-label="Choice of two" />
        </Group>
      </Section>
      <Section title="Data">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Owner</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Table.Tr>
              <Table.Td>orders</Table.Td>
              <Table.Td>shop-team</Table.Td>
            </Table.Tr>
          </Table.Tbody>
        </Table>
        <Facet title="Kind" values={[{ value: "API", count: 14 }, { value: "Template", count: 35 }]} chosen={["API"]} onChange={() => undefined} />
        <Tabs defaultValue="a">
          <Tabs.List>
            <Tabs.Tab value="a">Overview</Tabs.Tab>
            <Tabs.Tab value="b">Objects</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="a" p="sm">
            Panel
          </Tabs.Panel>
          <Tabs.Panel value="b" p="sm">
            Panel
          </Tabs.Panel>
        </Tabs>
        <Yaml label="Manifest" text={"# a manifest\nkind: Database\nspec:\n  size: 20\n  name: \"orders\"\n  backup: true\n"} />
        <Diff label="Difference" before={"size: 20\nname: orders\n"} after={"size: 50\nname: orders\n"} />
        <Command text="kubectl get xrd" />
      </Section>
      <Section title="Icons">
        <Group gap="xs">
          {samples.map((entity) => (
            <Group key={entity.metadata?.name} gap={4}>
              <EntityIcon entity={entity} />
              <Text size="xs">{entity.metadata?.name}</Text>
            </Group>
          ))}
        </Group>
        <Group gap="xs">
          {iconNames.map((name) => (
            <span key={name} title={name}>
              <Icon name={name} />
            </span>
          ))}
        </Group>
      </Section>
      <Section title="States">
        <Empty title="No results" action={<Button variant="default">Clear filters</Button>}>
          Search for the beginning of a word.
        </Empty>
        <Loading />
      </Section>
    </Page>
  );
}

// Entities with every well-known type and kind.
const samples: EntityPart[] = [
  ...["database", "bucket", "network", "cluster", "queue", "cache", "certificate", "dns", "function", "secret", "role", "repository", "alert", "volume", "machine", "app"].map((name) => ({ kind: "Resource", metadata: { name } })),
  ...["Component", "API", "Template", "Resource", "System", "Domain", "Group", "User", "Location"].map((kind) => ({ kind, metadata: { name: kind.toLowerCase() + "-kind" } })),
];

function colorOf(name: string): string {
  const own: Record<string, string> = { panel: "--panel", mark: "--mark", border: "--mantine-color-default-border", hover: "--mantine-color-default-hover" };
  return `var(${own[name] ?? `--mantine-color-${name}`})`;
}

function Swatch({ name, color }: { name: string; color: string }) {
  return (
    <Group gap={4} w={150}>
      <span className={styles.swatch} style={{ background: color }} />
      <Text size="xs">{name}</Text>
    </Group>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Title order={2} size="h3">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}
