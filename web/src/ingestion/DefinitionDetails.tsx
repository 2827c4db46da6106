import { useState } from "react";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { entityPath, refOf, templatePath } from "../api/entity";
import type { EntityPart } from "../api/types";
import { Command } from "../components/Command";
import { Icon } from "../components/Icon";
import { ErrorAlert } from "../components/State";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { toYaml } from "../components/toYaml";
import { asWritten, profileOf, sourceQuery } from "../entity/source";
import { playgroundPath } from "../playground/handover";
import { texts } from "../text";
import { ingestorOf, toneOf, whyNot, yamlOf, type Copy, type Place } from "./definition";
import { stateOf } from "./DefinitionRow";
import { sentence } from "./labels";
import { useMade, type Named } from "./queries";
import { ExplainLink } from "./ExplainLink";
import styles from "./Definitions.module.css";

const words = texts.ingestion.definitions;

// DefinitionDetails shows a definition in each place where it was found, what would select it, and where to go from it.
export function DefinitionDetails({ definition: d, places }: { definition: Named; places: Place[] }) {
  return (
    <Stack gap="sm" className={styles.details} component="section" aria-label={words.details(d.name)}>
      <ul className={styles.copies}>
        {places.map((p) => (
          <li key={`${p.cluster} ${p.name}`}>
            <Group gap="xs">
              <Icon name={p.cluster ? "cluster" : "repository"} size={16} />
              <Text size="sm" fw={600} component="span">
                {p.name}
              </Text>
              {stateOf(p, d.selected) !== "" && <Tag tone={toneOf(p)}>{stateOf(p, d.selected)}</Tag>}
            </Group>
            {p.copies.map((c) => (
              <CopyDetails key={`${c.source} ${c.file ?? ""}`} copy={c} />
            ))}
          </li>
        ))}
      </ul>
      <Links definition={d} />
    </Stack>
  );
}

function CopyDetails({ copy: c }: { copy: Copy }) {
  return (
    <div>
      <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
        {c.selected ? words.selectedBy(ingestorOf(c.source)) : words.notSelectedBy(ingestorOf(c.source), whyNot(c))}
        {c.since && (
          <>
            {" "}
            {words.lastRead} <Time at={c.since} />.
          </>
        )}
      </Text>
      {c.message && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: "anywhere" }}>
          {c.message}
        </Text>
      )}
      {!c.selected && <Remedy copy={c} />}
    </div>
  );
}

// Remedy shows what would select a definition: a command for clusters, the lines to add for files, or a setting.
function Remedy({ copy: c }: { copy: Copy }) {
  const { change, command, setting } = c.remedy ?? {};
  const file = c.file ?? c.source;
  if (command) {
    return (
      <>
        <Text size="sm">{change?.remove ? words.removeCommand : words.command}</Text>
        <Command text={command} />
      </>
    );
  }
  if (change && !change.remove) {
    return (
      <>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {words.toFile(file)}
        </Text>
        <Command text={yamlOf(change)} />
      </>
    );
  }
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      {change ? words.fromFile(file, change.key) : setting ? words.setting(setting) : words.noRemedy}
    </Text>
  );
}

function Links({ definition: d }: { definition: Named }) {
  const made = useMade(d.name, d.selected);
  const { form, definition } = made.data ?? {};
  return (
    <>
      {!d.selected && <Preview definition={d} />}
      <Group gap="xs">
        {form && (
          <Button component={Link} to={templatePath(refOf(form))} size="xs" variant="default" leftSection={<Icon name="template" size={14} />}>
            {words.form}
          </Button>
        )}
        {definition && (
          <Button component={Link} to={entityPath(refOf(definition))} size="xs" variant="default" leftSection={<Icon name="definition" size={14} />}>
            {words.entity}
          </Button>
        )}
        {definition && <OpenInPlayground entity={definition} />}
        {!d.selected && (
          <Button component={Link} to="/playground" size="xs" variant="default" leftSection={<Icon name="playground" size={14} />}>
            {words.openPlayground}
          </Button>
        )}
        <Text size="sm" component="span">
          <ExplainLink name={d.name} alone>{sentence(texts.ingestion.findings.explain)}</ExplainLink>
        </Text>
      </Group>
      {made.isError && <ErrorAlert error={made.error} retry={() => void made.refetch()} />}
    </>
  );
}

// Preview says how to preview a definition that is not selected: the portal does not store it.
function Preview({ definition: d }: { definition: Named }) {
  // A file may contain any name; one in a cluster needs no quotes in a shell.
  const cluster = d.copies.some((c) => c.cluster !== undefined) && /^[a-z0-9][a-z0-9.-]*$/.test(d.name);
  return (
    <div>
      <Text size="sm">{cluster ? words.previewCluster : words.previewFile}</Text>
      {cluster && <Command text={`kubectl get compositeresourcedefinition ${d.name} -o yaml`} />}
    </div>
  );
}

function OpenInPlayground({ entity }: { entity: EntityPart }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const open = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const source = await client.fetchQuery(sourceQuery(entity));
      void navigate(await playgroundPath(toYaml(asWritten(source.object)), profileOf(source.source)));
    } catch (err) {
      setProblem(err);
      setBusy(false);
    }
  };
  return (
    <>
      <Button size="xs" variant="default" leftSection={<Icon name="playground" size={14} />} loading={busy} onClick={() => void open()}>
        {words.playground}
      </Button>
      {problem !== undefined && <ErrorAlert title={words.playgroundFailed} error={problem} />}
    </>
  );
}
