import { Text } from "@mantine/core";
import { formatRef, refOf, specText, templatePath, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { EntityIcon } from "../components/EntityIcon";
import { fullRef, useTitle } from "../components/useTitles";
import { StarButton } from "../settings/StarButton";
import { useStarred } from "../settings/starred";
import { texts } from "../text";
import { Item, Items } from "./Items";
import { Panel } from "./Panel";
import { useTemplates } from "./queries";

const words = texts.home.templates;

// most is the number of Templates that are offered.
const most = 6;

// Templates offers forms: starred ones first, then the most used.
export function Templates() {
  const used = useTemplates(most);
  const starred = (useStarred() ?? []).filter((e) => e.kind === "Template");
  const isStarred = new Set(starred.map((e) => formatRef(refOf(e))));
  const shown = [...starred, ...(used.data ?? []).filter((e) => !isStarred.has(formatRef(refOf(e))))].slice(0, Math.max(most, starred.length));
  return (
    <Panel title={words.title} query={used} more={{ label: words.more, to: "/create" }}>
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm">
          {words.none}
        </Text>
      ) : (
        <Items label={words.title}>
          {shown.map((template) => (
            <Template key={formatRef(refOf(template))} template={template} />
          ))}
        </Items>
      )}
    </Panel>
  );
}

function Template({ template }: { template: EntityPart }) {
  const ref = refOf(template);
  const owner = specText(template, "owner");
  const { title } = useTitle(fullRef(owner, { kind: "group", namespace: ref.namespace }), owner !== "");
  return (
    <Item
      to={templatePath(ref)}
      icon={<EntityIcon entity={template} />}
      title={titleOf(template)}
      detail={owner && title}
      action={<StarButton entityRef={formatRef(ref)} subject={titleOf(template)} />}
    />
  );
}
