import { useMemo, type ReactNode } from "react";
import { SegmentedControl, Stack } from "@mantine/core";
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

type View = { value: string; label: string; show: () => ReactNode };

// viewsOf returns what the tab can show of an entity, the default first.
function viewsOf(entity: Entity): View[] {
  const own: View = { value: "entity", label: words.entity, show: () => <CatalogEntity entity={entity} /> };
  if (hasObject(entity)) {
    // Not everyone who may read the entity may read the object, such as guests.
    return [own, { value: "live", label: words.live, show: () => <LiveObject entity={entity} /> }];
  }
  if (!hasSource(entity)) {
    return [own];
  }
  const source: View = { value: "source", label: words.source, show: () => <SourceView entity={entity} /> };
  return isTemplateOrApi(entity) ? [own, source] : [source, own];
}

// YamlTab shows an entity, and the object behind it, as YAML.
export default function YamlTab({ entity }: { entity: Entity }) {
  const [params, setParams] = useSearchParams();
  const views = viewsOf(entity);
  const view = views.find((v) => v.value === params.get("view")) ?? views[0]!;
  // The catalog entity is always the right one.
  const listed = [...views].sort((a, b) => Number(a.value === "entity") - Number(b.value === "entity"));
  return (
    <Stack gap="sm">
      {views.length > 1 && (
        <SegmentedControl
          aria-label={words.view}
          style={{ alignSelf: "flex-start" }}
          data={listed.map(({ value, label }) => ({ value, label }))}
          value={view.value}
          onChange={(value) => setParams(value === views[0]!.value ? { tab: "yaml" } : { tab: "yaml", view: value }, { replace: true })}
        />
      )}
      {view.show()}
    </Stack>
  );
}

function CatalogEntity({ entity }: { entity: Entity }) {
  const text = useMemo(() => toYaml(entity), [entity]);
  return <Yaml text={text} label={words.of(entity.metadata.name)} file={`${entity.kind.toLowerCase()}-${entity.metadata.name}.yaml`} height={yamlHeight} />;
}
