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

// useDayTwo returns the path of the Template for a purpose, filled with a resource.
function useDayTwo(entity: EntityPart, purpose: string): ((more?: { field?: string }) => string) | undefined {
  const family = useDefinitionEntities(definitionOf(entity));
  const object = objectOf(entity);
  const template = dayTwo(family.data ?? [], purpose, versionOf(entity));
  if (!object || !template) {
    return undefined;
  }
  return (more) => withQuery(templatePath(refOf(template)), { name: object.name, namespace: object.namespace, cluster: object.cluster, ...more });
}

// useUpdatePath returns the path of the update form of a resource, with a field in focus.
export function useUpdatePath(entity: EntityPart): ((more: { field: string }) => string) | undefined {
  const access = usePermission("scaffolder.task.create");
  const to = useDayTwo(entity, "update");
  return access.allowed ? to : undefined;
}

// DayTwo offers the update and delete Templates of a resource's definition.
function DayTwo({ entity }: { entity: EntityPart }) {
  const [update, remove] = [useDayTwo(entity, "update"), useDayTwo(entity, "delete")];
  return (
    <>
      {update && <Go to={update()} label="Update" icon="edit" />}
      {remove && <Go to={remove()} label="Delete" icon="trash" />}
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
