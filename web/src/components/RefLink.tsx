import { Anchor } from "@mantine/core";
import { Link } from "react-router";
import { entityPath, formatRef, parseRef } from "../api/entity";

// RefLink links to an entity given by a reference, such as group:default/team. Text that is not a reference is shown as
// text.
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
