import { Anchor, Text } from "@mantine/core";
import { Icon } from "./Icon";
import { safeHref } from "./href";
import { texts } from "../text";

type Props = {
  // url is untrusted: it comes from an entity or from the output of a task.
  url: unknown;
  title?: string;
  // relative allows a relative URL, which leads into the portal.
  relative?: boolean;
  size?: string;
};

// DataLink links to an untrusted URL in a new tab. A URL with a disallowed scheme is shown as text.
export function DataLink({ url, title, relative, size }: Props) {
  const href = safeHref(url, { relative });
  const text = typeof url === "string" ? url : "";
  if (href === undefined) {
    return (
      <Text size={size} component="span" title={texts.components.notLinked} style={{ overflowWrap: "anywhere" }}>
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
