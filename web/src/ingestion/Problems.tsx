import { Accordion, Anchor, Group, List, Stack, Text, Title } from "@mantine/core";
import { Link, useLocation } from "react-router";
import { Empty, Failed, Loading } from "../parts/State";
import { Tag } from "../parts/Tag";
import { tones } from "./Explain";
import { useFindings } from "./findings";

// mostShown of a rule are listed; the number of all is beside its name.
const mostShown = 50;

// Problems shows definitions of which nothing can be made, and what is worth mending in the others, by rule.
export function Problems({ failures, version }: { failures: Record<string, string>; version: string }) {
  const { data, error, refetch } = useFindings(true, version);
  const failed = Object.entries(failures);
  return (
    <Stack gap="md">
      {failed.length > 0 && (
        <Stack gap="xs" component="section" aria-label="Failures">
          <Title order={2} size="h4">
            Failures
          </Title>
          <Text size="sm">Nothing can be made of these now; the catalog keeps what it has of them.</Text>
          <List size="sm">
            {failed.map(([name, why]) => (
              <List.Item key={name}>
                <ToObject name={name} />: {why}
              </List.Item>
            ))}
          </List>
        </Stack>
      )}
      <Stack gap="xs" component="section" aria-label="Findings">
        <Title order={2} size="h4">
          Findings
        </Title>
        {error ? (
          <Failed error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Loading label="Looking at the definitions" />
        ) : data.rules.length === 0 ? (
          <Empty title="Nothing to mend">{data.of === 0 ? "No definition is ingested yet." : `${data.looked} definitions were looked at.`}</Empty>
        ) : (
          <>
            {data.looked < data.of && (
              <Text size="sm" c="dimmed">
                {data.looked} of {data.of} definitions were looked at. composer-ingestor validate looks at all.
              </Text>
            )}
            <Accordion variant="contained" order={3} multiple>
              {data.rules.map((r) => (
                <Accordion.Item key={r.rule} value={r.rule}>
                  <Accordion.Control>
                    <Group gap="xs">
                      <Tag tone={tones[r.severity]}>{r.severity}</Tag>
                      <Text component="span" size="sm" ff="monospace">
                        {r.rule}
                      </Text>
                      <Text component="span" size="sm">
                        {r.found[0]?.finding.message}
                      </Text>
                      <Text component="span" size="sm" c="dimmed">
                        {r.found.length === 1 ? "once" : `${r.found.length} times`}
                      </Text>
                    </Group>
                  </Accordion.Control>
                  <Accordion.Panel>
                    <List size="sm">
                      {r.found.slice(0, mostShown).map((f, i) => (
                        <List.Item key={i}>
                          <ToObject name={f.definition} />: {f.finding.message}
                          {f.finding.hint ? `; ${f.finding.hint}` : ""}
                          {f.finding.path && (
                            <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
                              {f.finding.path}
                            </Text>
                          )}
                        </List.Item>
                      ))}
                    </List>
                    {r.found.length > mostShown && <Text size="sm">{r.found.length - mostShown} more are not shown.</Text>}
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
          </>
        )}
      </Stack>
    </Stack>
  );
}

// ToObject opens what is known of a definition, on this page.
function ToObject({ name }: { name: string }) {
  const { search } = useLocation();
  const params = new URLSearchParams(search);
  params.set("explain", name);
  return (
    <Anchor component={Link} to={{ search: params.toString() }} preventScrollReset inherit underline="always">
      {name}
    </Anchor>
  );
}
