import { formatRef, refOf } from "../../api/entity";
import type { EntityPart } from "../../api/types";
import { texts } from "../../text";
import { operationsOf } from "../document/operations";
import { isObject } from "../document/schema";
import { purposeOf, versionOf } from "../queries";
import { compareVersions } from "../../api/version";
import { formLines, linesOf, type Line } from "./diff";

// Side is an entity with fields: a Template's form or the schema of an API.
export type Side = { ref: string; kind: string; version: string; label: string };

// sidesOf returns the entities of a definition that can be compared, newest version first.
export function sidesOf(family: EntityPart[]): Side[] {
  return family
    .filter((e) => e.kind === "API" || (e.kind === "Template" && purposeOf(e) === "create"))
    .map((e) => ({
      ref: formatRef(refOf(e)),
      kind: e.kind ?? "",
      version: versionOf(e),
      label: texts.entity.versions.side(versionOf(e), e.kind === "API"),
    }))
    .sort((a, b) => a.kind.localeCompare(b.kind) * -1 || compareVersions(b.version, a.version) || a.ref.localeCompare(b.ref));
}

// choose returns the initial comparison: the entity of the page, or the newest, on the right and the version before it on
// the left.
export function choose(sides: Side[], here: string): { left?: Side; right?: Side } {
  const right = sides.find((s) => s.ref === here) ?? sides[0];
  const others = sides.filter((s) => s !== right && s.kind === right?.kind);
  const older = others.find((s) => compareVersions(s.version, right?.version ?? "") < 0);
  return { right, left: older ?? others[0] };
}

// fieldsOfEntity lists the fields of a Template's form or of an API's document.
export function fieldsOfEntity(entity: EntityPart, parse: (source: string) => unknown): Line[] {
  if (entity.kind === "Template") {
    return formLines(entity.spec?.["parameters"]);
  }
  const source = entity.spec?.["definition"];
  const document = typeof source === "string" ? parse(source) : undefined;
  const body = operationsOf(document).find((o) => o.body.length > 0)?.body[0]?.schema;
  if (body !== undefined) {
    return linesOf(document, body);
  }
  const components = isObject(document) && isObject(document["components"]) ? document["components"] : {};
  return linesOf(document, { properties: isObject(components["schemas"]) ? components["schemas"] : {} });
}
