import { formatRef, parseRef, refOf, titleOf } from "../../api/entity";
import type { EntityPart } from "../../api/types";
import { madeOf, readinessOf, type Made, type Readiness } from "../facts";
import { definitionOf } from "../queries";

// Node is an entity in the graph.
export type Node = {
  ref: string;
  title: string;
  kind: string;
  made?: Made;
  readiness?: Readiness;
  stale: boolean;
  // missing says that something refers to it, and the catalog does not have it.
  missing: boolean;
  // more is how many neighbours it has that are not shown.
  more: number;
};

// Edge leads from what is needed to what needs it.
export type Edge = { from: string; to: string };

export type Graph = { nodes: Node[]; edges: Edge[]; full: boolean };

// Fetch brings entities by their references, undefined for those that are not there.
export type Fetch = (refs: string[]) => Promise<(EntityPart | undefined)[]>;

export type Wish = {
  // roots are where to begin.
  roots: string[];
  // open are those of which all neighbours are wanted.
  open: string[];
  // family stand beside their definition although no relation says so.
  family: { definition: string; refs: string[] } | undefined;
  // owners says whether owners and systems are wanted, too.
  owners: boolean;
  depth: number;
  most: number;
};

// Relations that lead to what something needs, and those that lead to what needs it.
const up = new Set(["dependsOn", "consumesApi", "apiProvidedBy", "childOf", "memberOf"]);
const down = new Set(["dependencyOf", "apiConsumedBy", "providesApi", "parentOf", "hasMember"]);
const ownersUp = new Set(["ownedBy", "partOf"]);
const ownersDown = new Set(["ownerOf", "hasPart"]);

type Way = "up" | "down";

type Relation = { way: Way; ref: string; owner: boolean };

// relationsOf are the relations that the graph is about.
export function relationsOf(entity: EntityPart): Relation[] {
  const made = madeOf(entity);
  return (entity.relations ?? []).flatMap(({ type = "", targetRef = "" }): Relation[] => {
    const ref = normal(targetRef);
    const api = ref.startsWith("api:");
    // What describes a definition stands after it, as its forms do; and once is enough.
    if (api && made === "definition" && type === "dependsOn") {
      return [{ way: "down", ref, owner: false }];
    }
    if (api && made === "composition" && type === "dependsOn") {
      return [];
    }
    // The definition itself says that it is described.
    if (entity.kind === "API" && type === "dependencyOf" && definitionOf(entity) !== "") {
      return [];
    }
    if (up.has(type) || down.has(type)) {
      return [{ way: up.has(type) ? "up" : "down", ref, owner: false }];
    }
    if (ownersUp.has(type) || ownersDown.has(type)) {
      return [{ way: ownersUp.has(type) ? "up" : "down", ref, owner: true }];
    }
    return [];
  });
}

type Visit = { ways: Set<Way>; depth: number };

// gather walks from the roots to what they need, and to what needs them, breadth first, level by level. It does not turn
// round on the way: what else needs the same is not shown, unless it is asked for.
export async function gather(fetch: Fetch, wish: Wish): Promise<Graph> {
  const open = new Set(wish.open);
  const roots = new Set(wish.roots);
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
    if (seen.size >= wish.most) {
      full = true;
      return;
    }
    seen.set(ref, { ways: new Set(ways), depth });
    level.push(ref);
  };
  wish.roots.forEach((ref) => visit(ref, ["up", "down"], 0));
  if (wish.family) {
    visit(wish.family.definition, ["down"], 1);
    wish.family.refs.forEach((ref) => visit(ref, [], 1));
  }
  while (level.length > 0) {
    const now = level;
    level = [];
    const found = await fetch(now);
    now.forEach((ref, i) => entities.set(ref, found[i]));
    for (const ref of now) {
      const entity = entities.get(ref);
      const { ways, depth } = seen.get(ref)!;
      if (!entity || (depth >= wish.depth && !open.has(ref))) {
        continue;
      }
      for (const relation of relationsOf(entity)) {
        const all = open.has(ref);
        // Everything hangs on owners and systems: they are shown only from where one stands, or asks.
        if (relation.owner && (!wish.owners || (!all && !roots.has(ref)))) {
          continue;
        }
        if (all || ways.has(relation.way)) {
          visit(relation.ref, relation.owner ? [] : [relation.way], depth + 1);
        }
      }
    }
  }
  return assemble(seen, entities, wish, full);
}

function assemble(seen: Map<string, Visit>, entities: Map<string, EntityPart | undefined>, wish: Wish, full: boolean): Graph {
  const edges = new Map<string, Edge>();
  const put = (from: string, to: string) => edges.set(`${from} ${to}`, { from, to });
  const nodes: Node[] = [];
  const asked = new Set([...wish.roots, ...wish.open]);
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
      } else if (!relation.owner || (wish.owners && [ref, relation.ref].some((end) => asked.has(end)))) {
        if (relation.way === "up") {
          put(relation.ref, ref);
        } else {
          put(ref, relation.ref);
        }
      }
    }
    nodes.push(nodeOf(ref, entity, more));
  }
  const { family } = wish;
  if (family && seen.has(family.definition)) {
    family.refs.filter((ref) => seen.has(ref)).forEach((ref) => put(family.definition, ref));
  }
  return { nodes, edges: [...edges.values()], full };
}

function nodeOf(ref: string, entity: EntityPart | undefined, more: number): Node {
  if (!entity) {
    const { kind, name } = parseRef(ref);
    return { ref, title: name, kind, stale: false, missing: true, more: 0 };
  }
  const stale = Object.keys(entity.metadata?.annotations ?? {}).some((key) => key.endsWith("/stale"));
  return { ref, title: titleOf(entity), kind: entity.kind ?? "", made: madeOf(entity), readiness: readinessOf(entity), stale, missing: false, more };
}

// normal writes a reference as the graph does: nothing left out, in lower case.
export function normal(ref: string): string {
  return formatRef(parseRef(ref)).toLowerCase();
}

// keyOf names an entity as the graph does.
export function keyOf(entity: EntityPart): string {
  return normal(formatRef(refOf(entity)));
}
