import { Tag } from "../components/Tag";

const texts = new Map([
  ["definition", "Generated from a definition"],
  ["generated", "Generated catalog"],
  ["config", "Configured by the operator"],
  ["registered", "Registered location"],
  ["inline", "Not in the catalog"],
]);

// trusted are the origins that the operator configures.
const trusted = new Set(["definition", "generated", "config"]);

// originText describes the origin of a Template.
export function originText(origin: string): string {
  const provider = /^push:(.+)$/.exec(origin)?.[1];
  return provider === undefined ? (texts.get(origin) ?? origin) : `Pushed by ${provider}`;
}

// Origin shows the origin of a Template, with a warning if the operator did not configure it.
export function Origin({ of }: { of: string | undefined }) {
  if (!of) {
    return null;
  }
  if (trusted.has(of)) {
    return <Tag title="Trusted source: configured by the operator.">{originText(of)}</Tag>;
  }
  return (
    <Tag tone="warning" title="Untrusted source: not configured by the operator. The template can use only the actions, clusters and repositories that a permission rule grants it.">
      {originText(of)}
    </Tag>
  );
}
