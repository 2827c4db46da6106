import { useMemo } from "react";
import type { Entity } from "../api/types";
import { toYaml } from "../components/toYaml";
import { Yaml } from "../components/Yaml";

// YamlTab shows the entity as YAML.
export default function YamlTab({ entity }: { entity: Entity }) {
  const text = useMemo(() => toYaml(entity), [entity]);
  return <Yaml text={text} label={`YAML of ${entity.metadata.name}`} file={`${entity.kind.toLowerCase()}-${entity.metadata.name}.yaml`} height="max(320px, calc(100dvh - 280px))" />;
}
