import type { components } from "./schema";

// Short names for the API types, which are generated from the OpenAPI document.
export type Schemas = components["schemas"];
export type EntityPart = Schemas["EntityPart"];
export type EntityPage = Schemas["EntityPage"];
export type Session = Schemas["Session"];
export type Task = Schemas["Task"];
export type TaskEvent = Schemas["TaskEvent"];
export type Form = Schemas["Form"];
export type IngestionHealth = Schemas["IngestionHealth"];
export type Run = Schemas["Run"];
export type Explanation = Schemas["Explanation"];
export type Findings = Schemas["Findings"];
export type NamedDefinitions = Schemas["NamedDefinitions"];

// Json is any value of JSON.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// Entity is an entity with its required fields. The contents of its spec are untrusted: check types before use.
export type Entity = EntityPart & {
  apiVersion: string;
  kind: string;
  metadata: NonNullable<EntityPart["metadata"]> & { name: string };
  spec?: Record<string, unknown>;
};
