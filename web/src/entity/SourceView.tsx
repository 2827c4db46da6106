import { useMemo, useState } from "react";
import { Button, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Entity } from "../api/types";
import { Icon } from "../components/Icon";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { toYaml } from "../components/toYaml";
import { Yaml } from "../components/Yaml";
import { ingestorOf } from "../ingestion/definition";
import { shortSource } from "../ingestion/labels";
import { playgroundPath } from "../playground/handover";
import { texts } from "../text";
import { roleOf } from "./facts";
import { definitionOf, isMissing, useDefinitionEntities } from "./queries";
import { asWritten, profileOf, sourceQuery, type Source } from "./source";
import { yamlHeight } from "./yamlHeight";

const words = texts.entity.source;

// SourceView shows the XRD or Composition behind an entity, and opens it in the playground.
export function SourceView({ entity, into }: { entity: Entity; into?: HTMLElement | null }) {
  const [problem, setProblem] = useState<unknown>();
  const { data, error, refetch } = useQuery(sourceQuery(entity));
  const text = useMemo(() => (data ? toYaml(data.object) : ""), [data]);
  if (!data && isMissing(error)) {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  if (!data) {
    return error ? <ErrorAlert error={error} retry={() => void refetch()} /> : <Loading label={words.loading} lines={8} />;
  }
  const name = nameOf(data) ?? entity.metadata.name;
  return (
    <Stack gap="xs">
      {problem !== undefined && <ErrorAlert title={words.openFailed} error={problem} />}
      <Yaml
        text={text}
        label={words.of(entity.metadata.name)}
        file={`${name}.yaml`}
        height={yamlHeight}
        into={into}
        left={<Text size="sm" c="dimmed">{words.readBy(shortSource(data.source), ingestorOf(data.source))}</Text>}
        actions={<Open entity={entity} source={data} onProblem={setProblem} />}
      />
    </Stack>
  );
}

function nameOf({ object }: Source): string | undefined {
  const metadata: unknown = object["metadata"];
  const name = typeof metadata === "object" && metadata !== null && "name" in metadata ? metadata.name : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

// Open opens the source in the playground. A Composition needs its XRD there.
function Open({ entity, source, onProblem }: { entity: Entity; source: Source; onProblem: (err: unknown) => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const composition = roleOf(entity) === "composition";
  const family = useDefinitionEntities(composition ? definitionOf(entity) : "");
  const [busy, setBusy] = useState(false);
  const open = async () => {
    setBusy(true);
    onProblem(undefined);
    try {
      const documents = [source.object];
      if (composition) {
        const definition = family.data?.find((e) => roleOf(e) === "definition");
        if (!definition) {
          throw new Error(words.noDefinition);
        }
        documents.unshift((await client.fetchQuery(sourceQuery(definition))).object);
      }
      void navigate(await playgroundPath(documents.map((d) => toYaml(asWritten(d))).join("---\n"), profileOf(source.source)));
    } catch (err) {
      onProblem(err);
      setBusy(false);
    }
  };
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Icon name="playground" size={14} />}
      loading={busy || (composition && family.isPending)}
      onClick={() => void open()}
    >
      {words.open}
    </Button>
  );
}
