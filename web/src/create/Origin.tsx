import { Tag } from "../components/Tag";
import { texts } from "../text";

const words = texts.create.origin;

const names = new Map([
  ["definition", words.definition],
  ["generated", words.generated],
  ["config", words.config],
  ["registered", words.registered],
  ["inline", words.inline],
]);

// trusted are the origins that the operator configures.
const trusted = new Set(["definition", "generated", "config"]);

// originText describes the origin of a Template.
export function originText(origin: string): string {
  const provider = /^push:(.+)$/.exec(origin)?.[1];
  return provider === undefined ? (names.get(origin) ?? origin) : words.pushed(provider);
}

// Origin shows the origin of a Template, with a warning if the operator did not configure it.
export function Origin({ of }: { of: string | undefined }) {
  if (!of) {
    return null;
  }
  if (trusted.has(of)) {
    return <Tag title={words.trusted}>{originText(of)}</Tag>;
  }
  return (
    <Tag tone="warning" title={words.untrusted}>
      {originText(of)}
    </Tag>
  );
}
