import { lazy, Suspense, type ReactNode } from "react";
import { Anchor, Tabs } from "@mantine/core";
import { Link, useParams, useSearchParams } from "react-router";
import { ApiError } from "../api/client";
import { specText, titleOf } from "../api/entity";
import type { Entity } from "../api/types";
import { EntityIcon } from "../components/EntityIcon";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { texts } from "../text";
import { Actions } from "./Actions";
import { roleOf, objectOf } from "./facts";
import { Freshness } from "./Freshness";
import { Lead, listed, useTrail } from "./Header";
import { MissingEntity } from "./MissingEntity";
import { Overview } from "./Overview";
import { definitionOf, hasObject, useEntity, useResourceStream } from "./queries";
import { TabBar } from "./TabBar";
import { hasWorkloads } from "./workloads/queries";

const GraphTab = lazy(() => import("./graph/GraphTab"));
const YamlTab = lazy(() => import("./YamlTab"));
const ApiTab = lazy(() => import("./document/ApiTab"));
const VersionsTab = lazy(() => import("./versions/VersionsTab"));
const ObjectsTab = lazy(() => import("./objects/ObjectsTab"));
const HistoryTab = lazy(() => import("./HistoryTab"));
const WorkloadsTab = lazy(() => import("./workloads/WorkloadsTab"));
const ExplainTab = lazy(() => import("./ExplainTab"));

const words = texts.entity.page;
const titles = texts.entity.tabs;

type TabOf = { name: string; title: string; show: (entity: Entity) => ReactNode };

// tabsOf returns the tabs of an entity.
function tabsOf(entity: Entity): TabOf[] {
  const definition = definitionOf(entity);
  const tabs: (TabOf | false)[] = [
    { name: "overview", title: titles.overview, show: (e) => <Overview entity={e} /> },
    entity.kind === "API" && { name: "api", title: titles.api, show: (e) => <ApiTab entity={e} /> },
    { name: "graph", title: titles.graph, show: (e) => <GraphTab entity={e} /> },
    roleOf(entity) === "resource" && { name: "objects", title: titles.objects, show: (e) => <ObjectsTab entity={e} /> },
    hasObject(entity) && { name: "history", title: titles.history, show: (e) => <HistoryTab entity={e} /> },
    hasWorkloads(entity) && { name: "workloads", title: titles.workloads, show: (e) => <WorkloadsTab entity={e} /> },
    definition !== "" && { name: "versions", title: titles.versions, show: (e) => <VersionsTab entity={e} /> },
    definition !== "" && { name: "explain", title: titles.explain, show: (e) => <ExplainTab entity={e} /> },
    { name: "yaml", title: titles.yaml, show: (e) => <YamlTab entity={e} /> },
  ];
  return tabs.filter((t) => t !== false);
}

// moved are tabs of older links and where their content is now.
const moved: Record<string, string> = { conditions: "objects" };

export default function EntityPage() {
  const { namespace = "default", kind = "", name = "" } = useParams();
  const [params] = useSearchParams();
  const query = useEntity({ namespace, kind, name }, ["conditions", "objects"].includes(params.get("tab") ?? ""));
  const entity = query.data;
  useResourceStream(entity);
  // A removed entity is shown as removed; after other errors the last data stays.
  const gone = query.error instanceof ApiError && query.error.status === 404;
  if (entity) {
    return gone ? (
      <Page title={titleOf(entity)}>
        <Removed entity={entity} />
      </Page>
    ) : (
      <Present entity={entity} error={query.error} retry={() => void query.refetch()} />
    );
  }
  if (gone) {
    return <MissingEntity kind={kind} namespace={namespace} name={name} />;
  }
  return (
    <Page title={name}>
      {query.isPending && <Loading label={words.loading} lines={8} />}
      {query.isError && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
    </Page>
  );
}

// Present is the page of an entity that is in the catalog.
function Present({ entity, error, retry }: { entity: Entity; error: unknown; retry: () => void }) {
  const [params, setParams] = useSearchParams();
  const asked = params.get("tab") ?? "overview";
  const tabs = tabsOf(entity);
  const tab = tabs.find((t) => t.name === (moved[asked] ?? asked)) ?? tabs[0]!;
  // Other parameters belong to the previous tab.
  const choose = (value: string | null) => setParams(value === null || value === "overview" ? {} : { tab: value });
  return (
    <Page title={titleOf(entity)} icon={<EntityIcon entity={entity} size={40} />} trail={useTrail(entity)} lead={<Lead entity={entity} />} actions={<Actions entity={entity} />}>
      {error !== null && <ErrorAlert title={words.outdated} error={error} retry={retry} />}
      <Freshness entity={entity} />
      <Tabs value={tab.name} onChange={choose} keepMounted={false}>
        <TabBar tabs={tabs} active={tab.name} />
        {tabs.map((t) => (
          <Tabs.Panel key={t.name} value={t.name}>
            <Suspense fallback={<Loading label={words.loadingTab(t.title)} />}>{t.show(entity)}</Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

// Removed tells that the entity was removed while it was open.
function Removed({ entity }: { entity: Entity }) {
  const object = objectOf(entity);
  return (
    <Empty
      title={words.removed(object ? `${object.kind} ${object.name}` : `${entity.kind} ${entity.metadata.name}`)}
      action={
        <Anchor component={Link} to={listed(entity.kind, specText(entity, "type"))}>
          {words.others}
        </Anchor>
      }
    >
      {object ? words.removedObject : words.removedSource}
    </Empty>
  );
}
