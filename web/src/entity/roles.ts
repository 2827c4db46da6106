import type { EntityPart } from "../api/types";
import { texts } from "../text";
import { objectKind, roleOf } from "./facts";

// roleTitle returns what an entity generated from a definition is, and the kind of other entities.
export function roleTitle(entity: EntityPart): string {
  const role = roleOf(entity);
  return role ? texts.entity.roleTitles[role] : (entity.kind ?? "");
}

// kindTitle returns what a resource is in its cluster, such as Database, or else its role or kind.
export function kindTitle(entity: EntityPart): string {
  return objectKind(entity) || roleTitle(entity);
}
