import { useMemo } from "react";
import { Anchor, Text } from "@mantine/core";
import { Notice } from "../../components/Notice";
import { texts } from "../../text";
import { propertiesOf } from "./prune";
import { shownTitle } from "./units";
import type { Path, Problem, Schema } from "./types";
import styles from "./Form.module.css";

const words = texts.create.form;

// most is the number of errors listed.
const most = 12;

// ErrorSummary lists the validation errors of a page. Each leads to its field.
export function ErrorSummary({ page, problems, broken, onGo }: { page: Schema; problems: Problem[]; broken: Record<string, string>; onGo: (path: Path) => void }) {
  const titles = useMemo(() => propertiesOf(page).schemas, [page]);
  // Text that cannot be parsed is also not an object: show the parse error.
  const known = problems.map((p) => ({ path: p.path, title: titleAt(titles, p.path), message: broken[["root", ...p.path].join("_")] ?? p.message }));
  const all = known.length > 0 ? known : Object.entries(broken).map(([id, message]) => ({ path: id.split("_").slice(1) as Path, title: "", message }));
  if (all.length === 0) {
    return null;
  }
  return (
    <Notice tone="error" title={words.invalid(all.length)} role="alert" mb="md">
      <ul className={styles.errors}>
        {all.slice(0, most).map((e, i) => (
          <li key={i} className={styles.lines}>
            <Anchor component="button" type="button" size="sm" c="inherit" underline="always" ta="left" onClick={() => onGo(e.path)}>
              {e.title === "" ? e.message : words.errorAt(e.title, e.message)}
            </Anchor>
          </li>
        ))}
      </ul>
      {all.length > most && <Text size="sm">{words.moreErrors(all.length - most)}</Text>}
    </Notice>
  );
}

// titleAt names a field by the title of the first segment of its path and the names of the others.
function titleAt(titles: Map<string, Schema>, [first, ...rest]: Path): string {
  const title = first === undefined ? words.wholeForm : shownTitle(titles.get(String(first)), String(first));
  const inside = rest.map((step) => (/^\d+$/.test(String(step)) ? words.entry(Number(step) + 1) : String(step)));
  return [title, ...inside].join(", ");
}
