import { Anchor, Text } from "@mantine/core";
import { Icon } from "./Icon";
import { safeHref } from "./href";

type Props = {
  // url comes from data: an entity, or what a task puts out.
  url: unknown;
  title?: string;
  // relative lets the address lead into the portal.
  relative?: boolean;
  size?: string;
};

// DataLink is a link to an address that comes from data, in a new tab. An address that must not be followed is shown as text.
export function DataLink({ url, title, relative, size }: Props) {
  const href = safeHref(url, { relative });
  const text = typeof url === "string" ? url : "";
  if (href === undefined) {
    return (
      <Text size={size} component="span" title="Not a link: the address is not one of http, https or mailto" style={{ overflowWrap: "anywhere" }}>
        {[title, text].filter(Boolean).join(": ")}
      </Text>
    );
  }
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer" size={size} title={href} style={{ overflowWrap: "anywhere" }}>
      {title || text} <Icon name="external" size={14} />
    </Anchor>
  );
}
