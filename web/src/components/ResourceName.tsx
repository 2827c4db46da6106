import { Text } from "@mantine/core";
import { RefLink } from "./RefLink";

type Props = { resource: { entity: string; kind: string; namespace?: string | undefined; name: string } };

// ResourceName links to the entity of a live resource, with its kind and namespace below.
export function ResourceName({ resource: { entity, kind, namespace, name } }: Props) {
  return (
    <>
      <div>
        <RefLink to={entity}>{name}</RefLink>
      </div>
      <Text size="xs" c="dimmed">
        {namespace ? `${kind} · ${namespace}` : kind}
      </Text>
    </>
  );
}
