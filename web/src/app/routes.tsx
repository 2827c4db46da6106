import { lazy, Suspense } from "react";
import { Route, Routes, useLocation } from "react-router";
import { NotFound } from "../components/NotFound";
import { Loading } from "../components/State";
import { Boundary } from "./Boundary";
import { texts } from "../text";

const HomePage = lazy(() => import("../home/HomePage"));
const CatalogPage = lazy(() => import("../catalog/CatalogPage"));
const EntityPage = lazy(() => import("../entity/EntityPage"));
const CreatePage = lazy(() => import("../create/CreatePage"));
const TemplatePage = lazy(() => import("../create/TemplatePage"));
const TasksPage = lazy(() => import("../create/TasksPage"));
const TaskPage = lazy(() => import("../create/TaskPage"));
const IngestionPage = lazy(() => import("../ingestion/IngestionPage"));
const DesignPage = lazy(() => import("../design/DesignPage"));
const PlaygroundPage = lazy(() => import("../playground/PlaygroundPage"));

// Pages maps paths to pages.
export function Pages() {
  const { pathname } = useLocation();
  return (
    // Each page has its own boundary, so that an error in one page does not affect the next.
    <Boundary key={pathname}>
      <Suspense fallback={<Loading label={texts.app.loadingPage} />}>
        <Routes>
          <Route path="/" element={<HomePage />} />
          <Route path="/catalog" element={<CatalogPage />} />
          <Route path="/catalog/:namespace/:kind/:name" element={<EntityPage />} />
          <Route path="/create" element={<CreatePage />} />
          <Route path="/create/:namespace/:name" element={<TemplatePage />} />
          <Route path="/tasks" element={<TasksPage />} />
          <Route path="/tasks/:id" element={<TaskPage />} />
          <Route path="/ingestion" element={<IngestionPage />} />
          <Route path="/playground" element={<PlaygroundPage />} />
          <Route path="/design" element={<DesignPage />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Suspense>
    </Boundary>
  );
}
