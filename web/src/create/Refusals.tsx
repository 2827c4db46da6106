import { List } from "@mantine/core";
import { Notice } from "../components/Notice";
import { texts } from "../text";
import type { Problem } from "./form/types";

// Refusals says why a cluster would refuse the resource of a form.
export function Refusals({ of }: { of: Problem[] }) {
  if (of.length === 0) {
    return null;
  }
  return (
    <Notice tone="error" title={texts.create.review.refused} w="100%">
      <List size="sm">
        {of.map((p, i) => (
          <List.Item key={i}>{p.path.length > 0 ? `${p.path.join(".")}: ${p.message}` : p.message}</List.Item>
        ))}
      </List>
    </Notice>
  );
}
