import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import { entityPath, formatRef, parseRef, type Ref } from "../api/entity";
import { texts } from "../text";
import { iconOf } from "./entityIcon";
import { IconText } from "./IconText";
import styles from "./RefLink.module.css";
import { useTitle } from "./useTitles";

type Props = {
  // to is a reference, such as group:default/team; kind and namespace are what it leaves out.
  to: string;
  kind?: string;
  namespace?: string;
  // icon shows the icon of the entity before its title.
  icon?: boolean;
  // checked shows an entity that is not in the catalog as text. Leave it out for entities that are about to appear.
  checked?: boolean;
  // children is shown instead of the title.
  children?: string;
};

// RefLink links to an entity and shows its title. Text that is not a reference is shown as text.
export function RefLink({ to, kind, namespace, ...rest }: Props) {
  const ref = parseRef(to, { kind, namespace });
  return ref.kind && ref.name ? <Known at={ref} {...rest} /> : <>{to}</>;
}

function Known({ at, icon = false, checked = false, children }: { at: Ref } & Pick<Props, "icon" | "checked" | "children">) {
  const ref = formatRef(at);
  // A link with a text of its own needs nothing of the entity.
  const { title, entity, missing } = useTitle(ref, children === undefined || icon || checked);
  const text = children ?? title;
  const shown = icon ? <IconText icon={iconOf(entity)}>{text}</IconText> : text;
  if (checked && missing) {
    return (
      <span title={ref} className={styles.link}>
        {shown}{" "}
        <Text component="span" size="xs" c="dimmed">
          {texts.entity.notInCatalog}
        </Text>
      </span>
    );
  }
  return (
    <Anchor component={Link} to={entityPath(at)} title={ref} inherit className={styles.link}>
      {shown}
    </Anchor>
  );
}
