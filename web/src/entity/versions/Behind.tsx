import { useState } from "react";
import { Button, Stack, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import { withQuery } from "../../api/client";
import { parseRef, refOf, templatePath } from "../../api/entity";
import type { EntityPart } from "../../api/types";
import { usePermission } from "../../app/permission";
import { DataTable, type Column } from "../../components/DataTable";
import { PermissionTooltip } from "../../components/PermissionTooltip";
import { RefLink } from "../../components/RefLink";
import { ResourceName } from "../../components/ResourceName";
import { texts } from "../../text";
import { purposeOf, versionOf } from "../queries";
import type { Usage } from "./queries";

const words = texts.entity.versions.upgrade;

type Resource = Usage["resources"][number];

// step is how many resources are shown at first.
const step = 20;

// Behind lists the resources that are not written in the preferred version, with the update form of that version.
export function Behind({ usage: { preferred, kind, versions, resources, hidden, incomplete }, family }: { usage: Usage; family: EntityPart[] }) {
  const [shown, setShown] = useState(step);
  if (preferred === "") {
    return <Text size="sm">{words.noneServed}</Text>;
  }
  if (resources.length + hidden === 0) {
    return versions.length > 0 || incomplete.length > 0 ? <Text size="sm">{words.allMoved(preferred, incomplete.length === 0)}</Text> : <Text size="sm">{words.noResources}</Text>;
  }
  const template = family.find((e) => e.kind === "Template" && purposeOf(e) === "update" && versionOf(e) === preferred);
  const left = resources.length - shown;
  return (
    <Stack gap="xs" align="stretch">
      <Title order={3} size="h5">
        {words.toMove(preferred)}
      </Title>
      {!template && <Text size="sm">{words.noTemplate(preferred)}</Text>}
      {resources.length > 0 && <DataTable label={words.toMove(preferred)} columns={columnsOf(template, kind)} rows={resources.slice(0, shown)} keyOf={(r) => `${r.cluster} ${r.entity}`} />}
      {left > 0 && (
        <Button size="xs" variant="default" style={{ alignSelf: "flex-start" }} onClick={() => setShown(shown + step)}>
          {words.more(Math.min(step, left))}
        </Button>
      )}
      {hidden > 0 && <Text size="sm">{texts.components.changes.hidden(hidden)}</Text>}
    </Stack>
  );
}

function columnsOf(template: EntityPart | undefined, kind: string): Column<Resource>[] {
  return [
    { title: words.resource, cell: (r) => <ResourceName resource={r} />, priority: "key" },
    { title: words.cluster, cell: (r) => r.cluster },
    { title: words.owner, cell: (r) => r.owner && <RefLink to={r.owner} kind="group" namespace={parseRef(r.entity).namespace} /> },
    { title: words.version, cell: (r) => r.version || words.unknown },
    {
      title: words.actions,
      cell: (r) => (r.composed ? <Text size="xs">{words.composed}</Text> : r.kind !== kind ? <Text size="xs">{words.otherKind(kind)}</Text> : template && <Update resource={r} template={template} />),
      priority: "actions",
      silent: true,
    },
  ];
}

// Update opens the update form, filled with a resource.
function Update({ resource: { name, namespace, cluster }, template }: { resource: Resource; template: EntityPart }) {
  const access = usePermission("scaffolder.task.create");
  const common = { size: "compact-sm", variant: "default", "aria-label": words.updateOne(name) } as const;
  if (!access.allowed) {
    return (
      <PermissionTooltip access={access}>
        <Button {...common} disabled>
          {words.update}
        </Button>
      </PermissionTooltip>
    );
  }
  return (
    <Button {...common} component={Link} to={withQuery(templatePath(refOf(template)), { name, namespace, cluster })}>
      {words.update}
    </Button>
  );
}
