import type { IconName } from "../components/Icon";
import { texts } from "../text";

// pages are the main pages, in the order of the navigation.
export const pages: { to: string; label: string; icon: IconName }[] = [
  { to: "/", label: texts.app.home, icon: "home" },
  { to: "/catalog", label: texts.app.catalog, icon: "catalog" },
  { to: "/create", label: texts.app.create, icon: "create" },
  { to: "/tasks", label: texts.app.tasks, icon: "tasks" },
  { to: "/ingestion", label: texts.app.ingestion, icon: "ingestion" },
  { to: "/playground", label: texts.app.playground, icon: "playground" },
];
