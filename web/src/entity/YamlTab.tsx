import { useMemo, useState, type ReactNode } from "react";
import { Box, Group, SegmentedControl, Stack } from "@mantine/core";
import { useSearchParams } from "react-router";
import type { Entity } from "../api/types";
import { toYaml } from "../components/toYaml";
import { Yaml } from "../components/Yaml";
import { texts } from "../text";
import { LiveObject } from "./LiveObject";
import { hasObject } from "./queries";
import { hasSource, isTemplateOrApi } from "./source";
import { SourceView } from "./SourceView";
import { yamlHeight } from "./yamlHeight";

const words = texts.entity.yaml;

// View is one of the texts of the tab. Its bar is shown in an element beside the switch.
type View = { value: string; label: string; show: (into: HTMLElement | null | undefined) => ReactNode };

// viewsOf returns what the tab can show of an entity, the default first.
function viewsOf(entity: Entity): View[] {
  const own: View = { value: "entity", label: words.entity, show: (into) => <CatalogEntity entity={entity} into={into} /> };
  if (hasObject(entity)) {
    // Not everyone who may read the entity may read the object, such as guests.
    return [own, { value: "live", label: words.live, show: (into) => <LiveObject entity={entity} into={into} /> }];
  }
  if (!hasSource(entity)) {
    return [own];
  }
  const source: View = { value: "source", label: words.source, show: (into) => <SourceView entity={entity} into={into} /> };
  return isTemplateOrApi(entity) ? [own, source] : [source, own];
}

// YamlTab shows an entity, and the object behind it, as YAML.
export default function YamlTab({ entity }: { entity: Entity }) {
  const [params, setParams] = useSearchParams();
  const views = viewsOf(entity);
  const view = views.find((v) => v.value === params.get("view")) ?? views[0]!;
  // The catalog entity is always the right one.
  const listed = [...views].sort((a, b) => Number(a.value === "entity") - Number(b.value === "entity"));
  const [bar, setBar] = useState<HTMLElement | null>(null);
  return (
    <Stack gap="xs">
      {views.length > 1 && (
        <Group gap="xs" align="flex-start">
          <SegmentedControl
            aria-label={words.view}
            data={listed.map(({ value, label }) => ({ value, label }))}
            value={view.value}
            onChange={(value) => setParams(value === views[0]!.value ? { tab: "yaml" } : { tab: "yaml", view: value }, { replace: true })}
          />
          <Box ref={setBar} flex="1 1 300px" miw={0} />
        </Group>
      )}
      {view.show(views.length > 1 ? bar : undefined)}
    </Stack>
  );
}

function CatalogEntity({ entity, into }: { entity: Entity; into?: HTMLElement | null }) {
  const text = useMemo(() => toYaml(entity), [entity]);
  return <Yaml text={text} label={words.of(entity.metadata.name)} file={`${entity.kind.toLowerCase()}-${entity.metadata.name}.yaml`} height={yamlHeight} into={into} />;
}
