import { entityPath, formatRef, parseRef, refOf, specText, titleOf } from "../../api/entity";
import type { EntityPart } from "../../api/types";
import { readinessOf, type Ready } from "../../api/readiness";
import { iconOf } from "../../components/entityIcon";
import type { IconName } from "../../components/Icon";
import { roleOf, type Role } from "../facts";
import { definitionOf, purposeOf } from "../queries";

// Node is an entity in the graph, or an object of a cluster.
export type Node = {
  // ref identifies the node.
  ref: string;
  title: string;
  kind: string;
  // type is the type of an entity, and icon its icon.
  type?: string;
  icon?: IconName;
  role?: Role;
  readiness?: Ready;
  // state is shown instead of the readiness, and note after the kind.
  state?: string;
  note?: string;
  // to is the page of the node. A node without one is a button.
  to?: string;
  stale: boolean;
  // missing tells that the entity is referenced but not in the catalog.
  missing: boolean;
  // more is the number of neighbors that are not shown.
  more: number;
};

// Edge leads from a dependency to its dependent or, if belongs is set, from a whole, such as an owner, to what belongs to it.
export type Edge = { from: string; to: string; belongs?: boolean };

// Graph has nodes and edges. full tells that nodes were left out; names are what its nodes and its root are called, by
// default entities.
export type Graph = { nodes: Node[]; edges: Edge[]; full: boolean; names?: { nodes: string; root: string } };

// Fetch loads entities by reference; undefined for missing ones.
export type Fetch = (refs: string[]) => Promise<(EntityPart | undefined)[]>;

export type GraphOptions = {
  // roots are the entities to start from.
  roots: string[];
  // open are the entities whose neighbors are all shown.
  open: string[];
  // family are entities of a definition that have no relation to it.
  family: { definition: string; refs: string[] } | undefined;
  // owners tells whether to include owners and systems.
  owners: boolean;
  depth: number;
  most: number;
};

// Relations to dependencies, and to dependents.
const up = new Set(["dependsOn", "consumesApi", "apiProvidedBy", "childOf", "memberOf"]);
const down = new Set(["dependencyOf", "apiConsumedBy", "providesApi", "parentOf", "hasMember"]);
// belonging are relations that are no dependencies.
const belonging = new Set(["childOf", "memberOf", "parentOf", "hasMember", "ownedBy", "partOf", "ownerOf", "hasPart"]);
const ownersUp = new Set(["ownedBy", "partOf"]);
const ownersDown = new Set(["ownerOf", "hasPart"]);

type Way = "up" | "down";

type Relation = { way: Way; ref: string; owner: boolean; belongs?: boolean };

// relationsOf returns the relations that the graph shows.
export function relationsOf(entity: EntityPart): Relation[] {
  const role = roleOf(entity);
  return (entity.relations ?? []).flatMap(({ type = "", targetRef = "" }): Relation[] => {
    const ref = normal(targetRef);
    const api = ref.startsWith("api:");
    // The API of a definition is shown after it, like its Templates, and only once.
    if (api && role === "definition" && type === "dependsOn") {
      return [{ way: "down", ref, owner: false }];
    }
    if (api && role === "composition") {
      return [];
    }
    // The definition already has the relation to its API.
    if (entity.kind === "API" && ["dependencyOf", "apiProvidedBy"].includes(type) && definitionOf(entity) !== "") {
      return [];
    }
    if (up.has(type) || down.has(type)) {
      return [{ way: up.has(type) ? "up" : "down", ref, owner: false, belongs: belonging.has(type) }];
    }
    if (ownersUp.has(type) || ownersDown.has(type)) {
      return [{ way: ownersUp.has(type) ? "up" : "down", ref, owner: true, belongs: true }];
    }
    return [];
  });
}

type Visit = { ways: Set<Way>; depth: number };

// gather walks from the roots to their dependencies and to their dependents, breadth first. It does not change direction:
// other dependents of the same dependency are shown only on request.
export async function gather(fetch: Fetch, options: GraphOptions): Promise<Graph> {
  const open = new Set(options.open);
  const roots = new Set(options.roots);
  const seen = new Map<string, Visit>();
  const entities = new Map<string, EntityPart | undefined>();
  let full = false;
  let level: string[] = [];
  const visit = (ref: string, ways: Way[], depth: number) => {
    const before = seen.get(ref);
    if (before) {
      ways.forEach((way) => before.ways.add(way));
      return;
    }
    if (seen.size >= options.most) {
      full = true;
      return;
    }
    seen.set(ref, { ways: new Set(ways), depth });
    level.push(ref);
  };
  options.roots.forEach((ref) => visit(ref, ["up", "down"], 0));
  if (options.family) {
    visit(options.family.definition, ["down"], 1);
    options.family.refs.forEach((ref) => visit(ref, [], 1));
  }
  while (level.length > 0) {
    const now = level;
    level = [];
    const found = await fetch(now);
    now.forEach((ref, i) => entities.set(ref, found[i]));
    for (const ref of now) {
      const entity = entities.get(ref);
      const { ways, depth } = seen.get(ref)!;
      if (!entity || (depth >= options.depth && !open.has(ref))) {
        continue;
      }
      for (const relation of relationsOf(entity)) {
        const all = open.has(ref);
        // Owners and systems have very many relations: they are shown only for the roots and for opened entities.
        if (relation.owner && (!options.owners || (!all && !roots.has(ref)))) {
          continue;
        }
        if (all || ways.has(relation.way)) {
          visit(relation.ref, relation.owner ? [] : [relation.way], depth + 1);
        }
      }
    }
  }
  return assemble(seen, entities, options, full);
}

function assemble(seen: Map<string, Visit>, entities: Map<string, EntityPart | undefined>, options: GraphOptions, full: boolean): Graph {
  const edges = new Map<string, Edge>();
  const put = (from: string, to: string, belongs = false) => edges.set(`${from} ${to}`, belongs ? { from, to, belongs } : { from, to });
  const nodes: Node[] = [];
  const asked = new Set([...options.roots, ...options.open]);
  const forms = formsOf(entities);
  for (const ref of seen.keys()) {
    const entity = entities.get(ref);
    let more = 0;
    const counted = new Set<string>();
    for (const relation of entity ? relationsOf(entity) : []) {
      if (!seen.has(relation.ref)) {
        if (!relation.owner && !counted.has(relation.ref)) {
          counted.add(relation.ref);
          more++;
        }
      } else if (!relation.owner || (options.owners && [ref, relation.ref].some((end) => asked.has(end)))) {
        if (relation.way === "up") {
          put(relation.ref, ref, relation.belongs);
        } else {
          put(ref, relation.ref, relation.belongs);
        }
      }
    }
    const node = nodeOf(ref, entity, more);
    nodes.push(node.role === "definition" && entity ? { ...node, title: forms.get(definitionOf(entity)) ?? node.title } : node);
  }
  const { family } = options;
  if (family && seen.has(family.definition)) {
    family.refs.filter((ref) => seen.has(ref)).forEach((ref) => put(family.definition, ref));
  }
  return { nodes, edges: [...edges.values()], full };
}

// formsOf returns the titles of the forms that create from a definition, which say more than its name. A definition with
// several forms has none.
function formsOf(entities: Map<string, EntityPart | undefined>): Map<string, string> {
  const all = new Map<string, string>();
  const several = new Set<string>();
  for (const entity of entities.values()) {
    if (entity?.kind === "Template" && purposeOf(entity) === "create") {
      const definition = definitionOf(entity);
      if (all.has(definition)) {
        several.add(definition);
      }
      all.set(definition, titleOf(entity));
    }
  }
  return new Map([...all].filter(([definition]) => definition !== "" && !several.has(definition)));
}

function nodeOf(ref: string, entity: EntityPart | undefined, more: number): Node {
  const to = `${entityPath(parseRef(ref))}?tab=graph`;
  if (!entity) {
    const { kind, name } = parseRef(ref);
    return { ref, title: name, kind, to, stale: false, missing: true, more: 0 };
  }
  const stale = Object.keys(entity.metadata?.annotations ?? {}).some((key) => key.endsWith("/stale"));
  return { ref, title: titleOf(entity), kind: entity.kind ?? "", type: specText(entity, "type"), icon: iconOf(entity), to, role: roleOf(entity), readiness: readinessOf(entity)?.value, stale, missing: false, more };
}

// normal writes a full reference in lower case.
export function normal(ref: string): string {
  return formatRef(parseRef(ref)).toLowerCase();
}

// keyOf returns the reference of an entity, normalized.
export function keyOf(entity: EntityPart): string {
  return normal(formatRef(refOf(entity)));
}
