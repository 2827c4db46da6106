import { Tag } from "../parts/Tag";

const texts = new Map([
  ["definition", "Generated from a definition"],
  ["generated", "Generated catalog"],
  ["config", "Configured by the operator"],
  ["registered", "Registered location"],
  ["inline", "Not in the catalog"],
]);

// origins whose Templates the operator has chosen.
const trusted = new Set(["definition", "generated", "config"]);

// originText says where a Template comes from.
export function originText(origin: string): string {
  const provider = /^push:(.+)$/.exec(origin)?.[1];
  return provider === undefined ? (texts.get(origin) ?? origin) : `Pushed by ${provider}`;
}

// Origin shows where a Template comes from, with a warning if the operator has not chosen it.
export function Origin({ of }: { of: string | undefined }) {
  if (!of) {
    return null;
  }
  if (trusted.has(of)) {
    return <Tag title="The operator has chosen where this template comes from.">{originText(of)}</Tag>;
  }
  return (
    <Tag tone="doubt" title="The operator has not chosen this template. It can use only the actions, clusters and repositories that a permission rule grants it.">
      {originText(of)}
    </Tag>
  );
}
