import { lazy, Suspense, type ReactNode } from "react";
import { Anchor, Group, Tabs } from "@mantine/core";
import { Link, useParams, useSearchParams } from "react-router";
import { ApiError } from "../api/client";
import { annotation, annotations, specText, titleOf } from "../api/entity";
import { readinessOf } from "../api/readiness";
import type { Entity } from "../api/types";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag } from "../components/Tag";
import { Actions } from "./Actions";
import { roleOf, objectOf, tones } from "./facts";
import { Overview } from "./Overview";
import { definitionOf, hasObject, isMissing, useEntity, useResourceStatus, useResourceStream } from "./queries";
import { hasWorkloads } from "./workloads/queries";
import styles from "./Entity.module.css";

const GraphTab = lazy(() => import("./graph/GraphTab"));
const YamlTab = lazy(() => import("./YamlTab"));
const ApiTab = lazy(() => import("./document/ApiTab"));
const VersionsTab = lazy(() => import("./versions/VersionsTab"));
const ConditionsTab = lazy(() => import("./ConditionsTab"));
const ObjectsTab = lazy(() => import("./objects/ObjectsTab"));
const HistoryTab = lazy(() => import("./HistoryTab"));
const WorkloadsTab = lazy(() => import("./workloads/WorkloadsTab"));
const ExplainTab = lazy(() => import("./ExplainTab"));

type TabOf = { name: string; title: string; show: (entity: Entity) => ReactNode };

// tabsOf returns the tabs of an entity.
function tabsOf(entity: Entity): TabOf[] {
  const made = roleOf(entity);
  const definition = definitionOf(entity);
  const tabs: (TabOf | false)[] = [
    { name: "overview", title: "Overview", show: (e) => <Overview entity={e} /> },
    { name: "graph", title: "Graph", show: (e) => <GraphTab entity={e} /> },
    made === "resource" && { name: "objects", title: "Objects", show: (e) => <ObjectsTab entity={e} /> },
    made === "resource" && { name: "conditions", title: "Conditions", show: (e) => <ConditionsTab entity={e} /> },
    hasObject(entity) && { name: "history", title: "History", show: (e) => <HistoryTab entity={e} /> },
    hasWorkloads(entity) && { name: "workloads", title: "Workloads", show: (e) => <WorkloadsTab entity={e} /> },
    entity.kind === "API" && { name: "api", title: "API", show: (e) => <ApiTab entity={e} /> },
    definition !== "" && { name: "versions", title: "Versions", show: (e) => <VersionsTab entity={e} /> },
    definition !== "" && { name: "explain", title: "Explain", show: (e) => <ExplainTab entity={e} /> },
    { name: "yaml", title: "YAML", show: (e) => <YamlTab entity={e} /> },
  ];
  return tabs.filter((t) => t !== false);
}

export default function EntityPage() {
  const { namespace = "default", kind = "", name = "" } = useParams();
  const [params, setParams] = useSearchParams();
  const asked = params.get("tab") ?? "overview";
  const query = useEntity({ namespace, kind, name }, asked === "conditions");

  const entity = query.data;
  useResourceStream(entity);
  // A removed entity is shown as removed; after other errors the last data stays.
  const gone = query.error instanceof ApiError && query.error.status === 404;
  if (entity && gone) {
    return (
      <Page title={titleOf(entity)}>
        <Removed entity={entity} />
      </Page>
    );
  }
  if (!entity) {
    return (
      <Page title={name}>
        {query.isPending && <Loading label="Loading entity" lines={8} />}
        {gone && <Gone kind={kind} name={name} namespace={namespace} />}
        {query.isError && !gone && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
      </Page>
    );
  }
  const tabs = tabsOf(entity);
  const tab = tabs.find((t) => t.name === asked) ?? tabs[0]!;
  // Other parameters belong to the previous tab.
  const choose = (value: string | null) => setParams(value === null || value === "overview" ? {} : { tab: value });
  return (
    <Page title={titleOf(entity)} lead={<Lead entity={entity} />} actions={<Actions entity={entity} />}>
      {query.isError && <ErrorAlert title="This data may be out of date" error={query.error} retry={() => void query.refetch()} />}
      <Tabs value={tab.name} onChange={choose} keepMounted={false}>
        <Tabs.List className={styles.tabs} mb="md">
          {tabs.map((t) => (
            <Tabs.Tab key={t.name} value={t.name}>
              {t.title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((t) => (
          <Tabs.Panel key={t.name} value={t.name}>
            <Suspense fallback={<Loading label={`Loading ${t.title}`} />}>{t.show(entity)}</Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

// Lead shows kind, type, readiness and staleness.
function Lead({ entity }: { entity: Entity }) {
  const readiness = useShownReadiness(entity);
  const stale = annotation(entity, annotations.stale);
  const type = specText(entity, "type");
  return (
    <Group gap="xs" component="span">
      <span style={{ overflowWrap: "anywhere" }}>
        <Anchor component={Link} to={listed(entity.kind)} c="dimmed" underline="hover" title={`All entities of kind ${entity.kind}`}>
          {entity.kind}
        </Anchor>
        {type !== "" && " · "}
        {type !== "" && (
          <Anchor component={Link} to={listed(entity.kind, type)} c="dimmed" underline="hover" title={`All entities of type ${type}`}>
            {type}
          </Anchor>
        )}
      </span>
      {readiness && <Tag tone={tones[readiness.value]}>{readiness.lastKnown === "" ? readiness.value : `${readiness.value}, last known: ${readiness.lastKnown}`}</Tag>}
      {stale !== "" && (
        <Tag tone="warning" title={stale}>
          stale
        </Tag>
      )}
    </Group>
  );
}

// useShownReadiness returns the readiness of a resource as its cluster reports it now, or as the catalog has it. While the
// cluster does not answer, it is unknown.
function useShownReadiness(entity: Entity) {
  const known = readinessOf(entity);
  const { data, error, problem, connected } = useResourceStatus(entity);
  if (!known || problem || (error && !isMissing(error))) {
    return known && { value: "unknown" as const, lastKnown: known.value === "unknown" ? known.lastKnown : known.value };
  }
  if (connected && data && data.tree.readiness !== "none") {
    return { value: data.tree.readiness, lastKnown: "" };
  }
  return known;
}

// listed returns the catalog path for a kind and type.
function listed(kind: string, type?: string): string {
  return `/catalog?${new URLSearchParams(type ? { kind, type } : { kind }).toString()}`;
}

// Removed tells that the entity was removed while it was open.
function Removed({ entity }: { entity: Entity }) {
  const object = objectOf(entity);
  const what = object ? `${object.kind} ${object.name}` : `${entity.kind} ${entity.metadata.name}`;
  return (
    <Empty
      title={`${what} has been removed`}
      action={
        <Anchor component={Link} to={listed(entity.kind, specText(entity, "type"))}>
          View others of this type
        </Anchor>
      }
    >
      {object ? "The object no longer exists in its cluster." : "Its source no longer contains it."} If it is created again, it appears here automatically.
    </Empty>
  );
}

function Gone({ kind, name, namespace }: { kind: string; name: string; namespace: string }) {
  return (
    <Empty
      title={`Not found: ${kind} ${name} in namespace ${namespace}`}
      action={
        <Anchor component={Link} to={`/catalog?q=${encodeURIComponent(name)}`}>
          Search the catalog
        </Anchor>
      }
    >
      It may have been removed, or it has not been ingested yet. New resources appear within seconds.
    </Empty>
  );
}
