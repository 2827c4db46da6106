import { Button } from "@mantine/core";
import { Link } from "react-router";
import { usePermission } from "../app/permission";
import { refOf, templatePath } from "../api/entity";
import { withQuery } from "../api/client";
import type { EntityPart } from "../api/types";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon, type IconName } from "../components/Icon";
import { objectOf } from "./facts";
import { definitionOf, purposeOf, useDefinitionEntities, versionOf } from "./queries";

// Actions are the buttons of an entity: run a Template, update and delete a resource.
export function Actions({ entity }: { entity: EntityPart }) {
  const object = objectOf(entity);
  if (entity.kind === "Template") {
    return <Go to={templatePath(refOf(entity))} label={{ create: "Create", update: "Update", delete: "Delete" }[purposeOf(entity)] ?? "Use"} icon="create" primary />;
  }
  return object ? <DayTwo entity={entity} /> : null;
}

// DayTwo offers the update and delete Templates of a resource's definition.
function DayTwo({ entity }: { entity: EntityPart }) {
  const family = useDefinitionEntities(definitionOf(entity));
  const object = objectOf(entity);
  const with_ = { name: object?.name, namespace: object?.namespace, cluster: object?.cluster };
  const find = (purpose: string) => dayTwo(family.data ?? [], purpose, versionOf(entity));
  const [update, remove] = [find("update"), find("delete")];
  return (
    <>
      {update && <Go to={withQuery(templatePath(refOf(update)), with_)} label="Update" icon="edit" />}
      {remove && <Go to={withQuery(templatePath(refOf(remove)), with_)} label="Delete" icon="trash" />}
    </>
  );
}

// dayTwo finds the Template for a purpose, preferably of the same version.
export function dayTwo(family: EntityPart[], purpose: string, version: string): EntityPart | undefined {
  const fit = family.filter((e) => e.kind === "Template" && purposeOf(e) === purpose);
  return fit.find((e) => versionOf(e) === version) ?? fit[0];
}

function Go({ to, label, icon, primary }: { to: string; label: string; icon: IconName; primary?: boolean }) {
  const access = usePermission("scaffolder.task.create");
  const common = { variant: primary ? "filled" : "default", leftSection: <Icon name={icon} size={16} /> };
  // Without the permission to run a Template, its form can still be viewed.
  if (!access.allowed && !primary) {
    return (
      <PermissionTooltip access={access}>
        <Button {...common} disabled>
          {label}
        </Button>
      </PermissionTooltip>
    );
  }
  return (
    <Button component={Link} to={to} {...common}>
      {label}
    </Button>
  );
}
