import { Button, Tooltip, type ButtonProps } from "@mantine/core";
import { Link } from "react-router";
import { usePermission } from "../app/permission";
import { useSession } from "../app/session";
import { entityPath, formatRef, refOf, templatePath, titleOf } from "../api/entity";
import { withQuery } from "../api/client";
import type { Entity, EntityPart } from "../api/types";
import { Icon, type IconName } from "../components/Icon";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { StarButton } from "../settings/StarButton";
import { texts } from "../text";
import { objectOf, roleOf } from "./facts";
import { purposeOf, useResourceStatus } from "./queries";
import { useProduct } from "./product";
import { countObjects } from "./objects/state";

const words = texts.entity.actions;

// Actions are the buttons in the header of an entity.
export function Actions({ entity }: { entity: Entity }) {
  return (
    <>
      <StarButton entityRef={formatRef(refOf(entity))} subject={titleOf(entity)} size="lg" />
      <Forms entity={entity} />
    </>
  );
}

// Forms are the buttons that lead to forms: run a Template, create from a definition, update and delete a resource.
function Forms({ entity }: { entity: Entity }) {
  if (entity.kind === "Template") {
    const purpose = purposeOf(entity);
    return <Run to={templatePath(refOf(entity))} label={purpose === "update" ? words.update : purpose === "delete" ? words.delete : words.create} icon="create" primary />;
  }
  if (roleOf(entity) === "definition" || entity.kind === "API") {
    return <Product entity={entity} />;
  }
  return objectOf(entity) ? <DayTwo entity={entity} /> : null;
}

// Product offers the form and the API of a definition.
function Product({ entity }: { entity: Entity }) {
  const { create, api } = useProduct(entity);
  return (
    <>
      {api && entity.kind !== "API" && (
        <Button component={Link} to={apiPath(api)} variant="default" leftSection={<Icon name="api" size={16} />}>
          {words.api}
        </Button>
      )}
      {create && <Run to={templatePath(refOf(create))} label={words.create} icon="create" primary />}
    </>
  );
}

// apiPath returns the path of the document of an API.
export function apiPath(api: EntityPart): string {
  return `${entityPath(refOf(api))}?tab=api`;
}

// useDayTwo returns the path of the Template for a purpose, filled with a resource.
function useDayTwo(entity: EntityPart, purpose: "update" | "delete"): ((more?: { field?: string }) => string) | undefined {
  const template = useProduct(entity)[purpose];
  const object = objectOf(entity);
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
function DayTwo({ entity }: { entity: Entity }) {
  const [update, remove] = [useDayTwo(entity, "update"), useDayTwo(entity, "delete")];
  const { data } = useResourceStatus(entity);
  const composed = data ? countObjects(data.tree) - 1 : 0;
  const session = useSession();
  const access = usePermission("scaffolder.task.create");
  if (update && remove && session.guest && session.methods.oidc && access.known && !access.allowed) {
    return (
      <Button variant="default" leftSection={<Icon name="user" size={16} />} onClick={session.signIn}>
        {words.signIn}
      </Button>
    );
  }
  return (
    <>
      {update && <Run to={update()} label={words.update} icon="edit" />}
      {remove && <Run to={remove()} label={words.delete} icon="trash" style={{ variant: "outline", color: "danger" }} says={composed > 0 ? words.deletesObjects(composed) : undefined} />}
    </>
  );
}

type RunProps = {
  to: string;
  label: string;
  icon: IconName;
  primary?: boolean;
  style?: Pick<ButtonProps, "variant" | "color">;
  // says is shown beside the button on hover and focus.
  says?: string;
};

// Run opens the form of a Template.
function Run({ to, label, icon, primary = false, style = { variant: primary ? "filled" : "default" }, says }: RunProps) {
  const access = usePermission("scaffolder.task.create");
  const common = { ...style, leftSection: <Icon name={icon} size={16} /> };
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
  const button = (
    <Button component={Link} to={to} {...common}>
      {label}
    </Button>
  );
  return says === undefined ? (
    button
  ) : (
    <Tooltip label={says} position="bottom" multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {button}
    </Tooltip>
  );
}
