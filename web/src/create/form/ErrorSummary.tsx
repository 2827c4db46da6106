import { Anchor, Text } from "@mantine/core";
import { Notice } from "../../components/Notice";
import { texts } from "../../text";
import { propertiesOf } from "./prune";
import { shownTitle } from "./units";
import { isObject, type Path, type Problem, type Schema } from "./types";
import styles from "./Form.module.css";

const words = texts.create.form;

// most is the number of errors listed.
const most = 12;

// ErrorSummary lists the validation errors of a page. Each leads to its field.
export function ErrorSummary({ page, problems, broken, onGo }: { page: Schema; problems: Problem[]; broken: Record<string, string>; onGo: (path: Path) => void }) {
  // Text that cannot be parsed is also not an object: show the parse error.
  const known = problems.map((p) => ({ path: p.path, title: titleAt(page, p.path), message: broken[["root", ...p.path].join("_")] ?? p.message }));
  const all = known.length > 0 ? known : Object.entries(broken).map(([id, message]) => ({ path: id.split("_").slice(1) as Path, title: "", message }));
  if (all.length === 0) {
    return null;
  }
  return (
    <Notice tone="error" title={words.invalid(all.length)} role="alert" mb="md">
      <ul className={styles.errors}>
        {all.slice(0, most).map((e, i) => (
          <li key={i} className={styles.lines}>
            <Anchor component="button" type="button" size="sm" c="inherit" underline="always" ta="left" lh="24px" mih={24} style={{ verticalAlign: "top" }} onClick={() => onGo(e.path)}>
              {e.title === "" ? e.message : words.errorAt(e.title, e.message)}
            </Anchor>
          </li>
        ))}
      </ul>
      {all.length > most && <Text size="sm">{words.moreErrors(all.length - most)}</Text>}
    </Notice>
  );
}

// titleAt names a field by the titles on its path, as far as the schema has them.
function titleAt(page: Schema, path: Path): string {
  if (path.length === 0) {
    return words.wholeForm;
  }
  let schema: Schema | undefined = page;
  const titles = path.map((step) => {
    if (/^\d+$/.test(String(step)) && isObject(schema?.["items"])) {
      schema = schema["items"];
      return words.entry(Number(step) + 1);
    }
    schema = schema && propertiesOf(schema).schemas.get(String(step));
    return shownTitle(schema, String(step));
  });
  return titles.join(", ");
}
