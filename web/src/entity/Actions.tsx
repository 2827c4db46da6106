import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useMay } from "../app/may";
import { refOf, templatePath } from "../api/entity";
import { withQuery } from "../api/client";
import type { EntityPart } from "../api/types";
import { Denied } from "../parts/Denied";
import { Icon, type IconName } from "../parts/Icon";
import { thingOf } from "./facts";
import { definitionOf, purposeOf, useFamily, versionOf } from "./queries";

// Actions is what can be done with an entity: create with a Template, change and delete a resource.
export function Actions({ entity }: { entity: EntityPart }) {
  const thing = thingOf(entity);
  if (entity.kind === "Template") {
    return <Go to={templatePath(refOf(entity))} label={{ create: "Create", update: "Update", delete: "Delete" }[purposeOf(entity)] ?? "Use"} icon="create" primary />;
  }
  return thing ? <DayTwo entity={entity} /> : null;
}

// DayTwo offers the Templates that change and delete resources of the same definition.
function DayTwo({ entity }: { entity: EntityPart }) {
  const family = useFamily(definitionOf(entity));
  const thing = thingOf(entity);
  const with_ = { name: thing?.name, namespace: thing?.namespace, cluster: thing?.cluster };
  const find = (purpose: string) => dayTwo(family.data ?? [], purpose, versionOf(entity));
  const [update, remove] = [find("update"), find("delete")];
  return (
    <>
      {update && <Go to={withQuery(templatePath(refOf(update)), with_)} label="Update" icon="edit" />}
      {remove && <Go to={withQuery(templatePath(refOf(remove)), with_)} label="Delete" icon="trash" />}
    </>
  );
}

// dayTwo finds the Template for a purpose: the one of the same version, else any.
export function dayTwo(family: EntityPart[], purpose: string, version: string): EntityPart | undefined {
  const fit = family.filter((e) => e.kind === "Template" && purposeOf(e) === purpose);
  return fit.find((e) => versionOf(e) === version) ?? fit[0];
}

function Go({ to, label, icon, primary }: { to: string; label: string; icon: IconName; primary?: boolean }) {
  const may = useMay("scaffolder.task.create");
  const common = { variant: primary ? "filled" : "default", leftSection: <Icon name={icon} size={16} /> };
  // Whoever may not run a Template may still look at its form.
  if (!may.allowed && !primary) {
    return (
      <Denied may={may}>
        <Button {...common} disabled>
          {label}
        </Button>
      </Denied>
    );
  }
  return (
    <Button component={Link} to={to} {...common}>
      {label}
    </Button>
  );
}
