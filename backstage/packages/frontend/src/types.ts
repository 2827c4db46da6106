// What the portal returns, as far as the pages show it. Its api/openapi.yaml describes all of it.

export interface ObjectRef {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export type Readiness = 'ready' | 'not ready' | 'unknown' | 'none';

export interface ObjectNode {
  ref: ObjectRef;
  state: 'present' | 'missing' | 'forbidden' | 'unreadable';
  problem?: string;
  created?: string;
  deleted?: string;
  externalName?: string;
  paused?: boolean;
  readiness: Readiness;
  since?: string;
  conditions?: Condition[];
  event?: { type: string; message?: string };
  children?: ObjectNode[];
  more?: number;
  loop?: boolean;
}

export interface ResourceEvent {
  object: ObjectRef;
  type: string;
  reason?: string;
  message?: string;
  count?: number;
  last?: string;
}

export interface ResourceStatus {
  cluster: string;
  ready: boolean;
  reason?: { path: ObjectRef[]; since?: string; sentence: string };
  tree: ObjectNode;
  events: ResourceEvent[];
  read: string;
}

export interface ResourceChange {
  task: string;
  by: string;
  at: string;
  operation: 'create' | 'update' | 'delete';
  fields?: string[];
}

export interface Source {
  name: string;
  cluster?: string;
  state: string;
  lastAttempt?: string;
  lastSuccess?: string;
  lastError?: string;
  hint?: string;
  objects?: Record<string, number>;
  problemCount?: number;
  definitions?: { found: number; selected: number; message?: string; hint?: string };
}

export interface Health {
  status: 'starting' | 'healthy' | 'degraded' | 'unhealthy';
  clusters: Record<string, string>;
  entitiesGenerated: number;
  sources?: Source[];
  failures?: Record<string, string>;
  notices?: string[];
  missing?: { ref: string; relation: string; entities: number; example: string }[];
  unserved?: { cluster: string; definition: string; condition: string; status: string; reason?: string; message?: string }[];
}
