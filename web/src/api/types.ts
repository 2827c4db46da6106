import type { components } from "./schema";

// The names of what the API speaks about; the types are generated from its contract.
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

// Json is any value of JSON.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// Entity is an entity with what every entity has. Everything in its spec is somebody's text: look before use.
export type Entity = EntityPart & {
  apiVersion: string;
  kind: string;
  metadata: NonNullable<EntityPart["metadata"]> & { name: string };
  spec?: Record<string, unknown>;
};
