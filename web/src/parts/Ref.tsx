import { Anchor } from "@mantine/core";
import { Link } from "react-router";
import { entityPath, formatRef, parseRef } from "../api/entity";

// RefLink is a link to an entity, given as a reference such as group:default/team. Text that is no reference stays text.
export function RefLink({ to, kind, namespace, children }: { to: string; kind?: string; namespace?: string; children?: string }) {
  const ref = parseRef(to, { kind, namespace });
  if (!ref.kind || !ref.name) {
    return <>{to}</>;
  }
  const name = ref.namespace === "default" ? ref.name : `${ref.namespace}/${ref.name}`;
  return (
    <Anchor component={Link} to={entityPath(ref)} title={formatRef(ref)} inherit style={{ overflowWrap: "anywhere" }}>
      {children ?? name}
    </Anchor>
  );
}
