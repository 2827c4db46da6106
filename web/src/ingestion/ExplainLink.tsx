import { Anchor } from "@mantine/core";
import { Link, useLocation } from "react-router";
import { texts } from "../text";

const words = texts.ingestion.findings;

// ExplainLink opens the explanation of a definition on this page. Unless it stands alone, it is underlined, as links in text
// are.
export function ExplainLink({ name, alone, children = words.explain }: { name: string; alone?: boolean; children?: string }) {
  const { search } = useLocation();
  const params = new URLSearchParams(search);
  params.set("explain", name);
  return (
    <Anchor component={Link} to={{ search: params.toString() }} preventScrollReset inherit underline={alone ? "hover" : "always"} aria-label={words.explainOne(name)} style={{ overflowWrap: "anywhere" }}>
      {children}
    </Anchor>
  );
}
