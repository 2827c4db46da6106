import { useMemo, useState } from "react";
import { Stack, Switch, Text } from "@mantine/core";
import type { Entity } from "../api/types";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { toYaml } from "../components/toYaml";
import { Yaml } from "../components/Yaml";
import { texts } from "../text";
import { objectOf } from "./facts";
import { useResourceObject } from "./queries";
import { hasManagedFields, withoutManagedFields } from "./source";
import { yamlHeight } from "./yamlHeight";

const words = texts.entity.yaml;

// LiveObject shows the object of a resource as its cluster has it. Managed fields, often most of the text, are hidden.
export function LiveObject({ entity, into }: { entity: Entity; into?: HTMLElement | null }) {
  const query = useResourceObject(entity);
  const [all, setAll] = useState(false);
  const object = query.data?.object;
  const managed = object !== undefined && hasManagedFields(object);
  const text = useMemo(() => (object === undefined ? "" : toYaml(all ? object : withoutManagedFields(object))), [object, all]);
  const name = objectOf(entity)?.name ?? entity.metadata.name;
  return (
    <Stack gap="xs">
      {query.error && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
      {query.denied && <Empty title={texts.entity.permissionRequired}>{query.denied}</Empty>}
      {!object && !query.error && !query.denied && <Loading label={words.loadingObject} lines={8} />}
      {query.data && (
        <Yaml
          text={text}
          label={words.ofObject(name)}
          file={`${name}.yaml`}
          height={yamlHeight}
          into={into}
          left={<Text size="sm" c="dimmed">{words.inCluster(query.data.cluster)}</Text>}
          actions={managed && <Switch size="sm" label={words.managed} checked={all} onChange={(e) => setAll(e.currentTarget.checked)} />}
        />
      )}
    </Stack>
  );
}
