import { Code, Group, Stack, Text } from "@mantine/core";
import { useSession } from "../app/session";
import type { Entity } from "../api/types";
import { Copy } from "../components/Copy";
import { DataLink } from "../components/DataLink";
import { messageOf } from "../components/State";
import { number, texts } from "../text";
import { Box } from "./Box";
import { commandFor, rowsOf, secretsOf } from "./details";
import { isMissing, useResourceObject } from "./queries";
import styles from "./Entity.module.css";

const words = texts.entity.details;

// Details shows spec, status and connection secrets of a resource, as its cluster has them.
export function Details({ entity }: { entity: Entity }) {
  const { data, error, denied } = useResourceObject(entity);
  const { methods } = useSession();
  if (!data) {
    // The cluster's absence is reported above.
    const why = denied !== undefined && methods.oidc ? words.signIn : (denied ?? (error && !isMissing(error) ? messageOf(error) : undefined));
    return why !== undefined ? (
      <Box title={words.specification}>
        <Text size="sm" c="dimmed" className={styles.message}>
          {why}
        </Text>
      </Box>
    ) : null;
  }
  const secrets = secretsOf(data.object);
  return (
    <>
      <Fields title={words.specification} part={data.object["spec"]} />
      <Fields title={words.reported} part={data.object["status"]} />
      {secrets.length > 0 && (
        <Box title={words.secrets(secrets.length)}>
          <Stack gap="sm">
            {secrets.map((s) => (
              <Stack gap={4} key={`${s.namespace}/${s.name}`}>
                <Text size="sm">{words.secret(s.name, s.namespace)}</Text>
                <Group gap="xs" wrap="nowrap" align="flex-start">
                  <Code block className={styles.command} tabIndex={0}>
                    {commandFor(s)}
                  </Code>
                  <Copy text={commandFor(s)} />
                </Group>
              </Stack>
            ))}
          </Stack>
        </Box>
      )}
    </>
  );
}

// Fields is a table of fields. URLs become links.
function Fields({ title, part }: { title: string; part: unknown }) {
  const { rows, total } = rowsOf(part);
  if (rows.length === 0) {
    return null;
  }
  return (
    <Box title={title}>
      <dl className={styles.facts}>
        {rows.map(({ path, value }) => (
          <div key={path} className={styles.fact}>
            <dt>{path}</dt>
            <dd>{/^https?:\/\//.test(value) ? <DataLink url={value} size="sm" /> : value}</dd>
          </div>
        ))}
      </dl>
      {total > rows.length && (
        <Text size="sm" c="dimmed">
          {words.more(number(total - rows.length))}
        </Text>
      )}
    </Box>
  );
}
