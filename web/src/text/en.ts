// All texts of the portal in English, by area. Functions insert values and choose plurals. No component has a text of
// its own: text.test.ts checks that.

const number = (value: number) => value.toLocaleString("en");

// count returns a number with its noun.
const count = (value: number, one: string, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

const app = {
  skip: "Skip to content",
  navigation: "Main navigation",
  openNavigation: "Open navigation",
  closeNavigation: "Close navigation",
  breadcrumbs: "Breadcrumb",
  home: "Home",
  catalog: "Catalog",
  create: "Create",
  tasks: "Tasks",
  ingestion: "Ingestion",
  playground: "Playground",
  loadingPage: "Loading page",
  signingIn: "Signing in",
  signIn: {
    title: "Sign in",
    button: "Sign in",
    guest: "Continue as guest",
    returns: "You will return to this page.",
    none: "No sign-in method is configured. Ask your administrator.",
    unreachable: "Cannot reach the portal. Check that it is running, then try again.",
    guestsOnly: "Sign-in is not configured: everyone is a guest.",
  },
  user: {
    notSignedIn: "Not signed in",
    browsingAsGuest: "Browsing as guest",
    signedInAs: (name: string) => `Signed in as ${name}`,
    guest: "Guest",
    myTasks: "My tasks",
    signOut: "Sign out",
  },
  theme: {
    auto: "system",
    light: "light",
    dark: "dark",
    label: (now: string, next: string) => `Theme: ${now}. Switch to ${next}.`,
  },
  permission: {
    unknown: "Cannot check your permissions. Try again in a moment.",
    guest: "Guests cannot do this. Sign in first.",
    guestOnly: "Guests cannot do this, and sign-in is not configured. Ask your administrator.",
    missing: (name: string) => `Missing permission ${name}. Ask your administrator.`,
  },
  failure: {
    title: "Something went wrong",
    advice: "Reload the page. If the error persists, send your administrator the message below and describe what you did.",
    loadTitle: "This page could not be loaded",
    loadAdvice: "The portal may have been updated or may be away for a moment. Reload the page.",
    reload: "Reload",
    goHome: "Go to home page",
  },
  offline: {
    title: "No connection to the portal",
    since: (time: string) => `Showing data from ${time}.`,
    retrying: "Retrying",
    retry: "Retry now",
  },
  notFound: {
    title: "Page not found",
    hint: "The link may be outdated or mistyped, or you may not be allowed to see it.",
    search: "Search the catalog",
    goHome: "Go to home page",
  },
};

const api = {
  unreachable: "Cannot reach the portal. Check that it is running and that you are online, then try again.",
  status: (status: number) => `The portal returned status ${status}.`,
  statusRetry: (status: number) => `The portal returned status ${status}. Try again in a moment.`,
  readiness: { ready: "Ready", "not ready": "Not ready", unknown: "Unknown" },
  signInMethods: "Cannot load the sign-in methods. Try again in a moment.",
  signOutFailed: "Sign-out failed: you are still signed in. Try again in a moment.",
};

const components = {
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Copy failed: select the text instead",
  download: "Download",
  retry: "Retry",
  loading: "Loading",
  notLinked: "Not linked: only http, https and mailto URLs are allowed",
  error: {
    other: "Something went wrong",
    offline: "No connection to the portal",
    401: "Sign-in required",
    403: "Permission denied",
    404: "Not found",
    429: "Too many requests",
    503: "Temporarily unavailable",
  },
  diff: {
    removed: "removed: ",
    added: "added: ",
    unchanged: (lines: number) => count(lines, "unchanged line"),
    showAll: "Show all lines",
  },
  facet: {
    search: "Search",
    searchIn: (title: string) => `Search in ${title}`,
    more: (left: number) => `${number(left)} more. Search to narrow the list.`,
    // The title of a facet as a plural noun: Kind becomes kinds, Tags becomes tags.
    fewer: (title: string) => `Show fewer ${title.toLowerCase().replace(/s?$/, "s")}`,
    all: (total: number, title: string) => `Show all ${number(total)} ${title.toLowerCase().replace(/s?$/, "s")}`,
  },
  time: {
    never: "never",
    justNow: "just now",
    milliseconds: (value: string) => `${value} ms`,
    seconds: (value: string) => `${value} s`,
    minutes: (minutes: string, seconds: string) => `${minutes} min ${seconds} s`,
  },
};

const settings = {
  star: (subject: string) => `Star ${subject}`,
  unstar: (subject: string) => `Remove the star from ${subject}`,
  starFailed: (why: string) => `Star not saved: ${why}`,
  starred: "Starred",
  views: "Views",
  saveView: "Save view",
  viewName: "Name of the view",
  save: "Save",
  removeView: (name: string) => `Remove view ${name}`,
  viewFailed: (why: string) => `View not saved: ${why}`,
};

const home = {
  title: "Home",
  welcome: (name: string) => `Welcome, ${name}`,
  lead: "What runs, what changed, and what you can create.",
  resources: {
    mine: "My resources",
    all: "Resources",
    notReady: (n: number) => `${number(n)} not ready`,
    more: (total: number) => `Show all ${number(total)}`,
    noneMine: "You and your teams own no running resources. Create one from a form.",
    none: "No resources are running yet. Create one from a form.",
  },
  changes: { title: "Changed in the last 24 hours", none: "Nothing changed.", created: "created", changed: "updated" },
  templates: { title: "Create", more: "Browse all", none: "There are no forms yet." },
  tasks: { title: "My tasks", more: "Show all", none: "You have not started any tasks." },
  sources: {
    title: "Sources",
    more: "Ingestion status",
    none: "No sources are configured.",
    state: (state: string) => state.replaceAll("-", " "),
  },
  first: {
    title: "Get your first form into the portal",
    addCluster: "Add a cluster to the configuration of the portal and restart it:",
    addClusterConfig: "crossplaneIngestor:\n  clusters:\n    - name: prod\n      kubeconfig: ./kubeconfig",
    label: "Label the XRDs that should have a form:",
    labelCommand: "kubectl label xrd NAME openportal.dev/ingest=true",
    check: "Check what was found and why:",
    definitions: "definitions",
    playground: "To see the form of an XRD before it is in a cluster, paste it into the playground.",
    emptyTitle: "The portal is still empty",
    emptyHint: "Forms and resources appear here as soon as your platform team connects a cluster.",
  },
};

const search = {
  open: "Search or go to…",
  title: "Search",
  field: "Search everything",
  hint: "Search resources, forms, APIs, people and pages",
  results: "Results",
  pages: "Pages",
  entities: "Catalog",
  tasks: "My tasks",
  starred: "Starred",
  none: (term: string) => `No results for “${term}”`,
  noneHint: "Check the spelling, or search for fewer words.",
  more: (term: string) => `Show all results for “${term}” in the catalog`,
  failed: "Search is unavailable right now",
  total: (total: number) => count(total, "result"),
  keys: { move: "Move", open: "Open", details: "Details", close: "Close" },
  owner: "Owner",
  system: "System",
  status: "Status",
  tags: "Tags",
  opensForm: "Opens the form",
  shortcuts: "Keyboard shortcuts",
  shortcut: {
    palette: "Search everything",
    slash: "Search on this page",
    help: "Show keyboard shortcuts",
    go: "Go to home, catalog, create, tasks",
    rows: "Move between rows of a table",
    enter: "Open the selected row",
    escape: "Close a dialog",
    star: "Star the entity of this page",
  },
  or: "or",
  then: "then",
};

const catalog = {
  title: "Catalog",
  lead: "What your platform offers and what runs on it.",
  search: "Search the catalog",
  searchHint: "Search names, titles, descriptions and tags",
  clearSearch: "Clear search",
  filters: "Filters",
  filtersChosen: (chosen: number) => `Filters (${number(chosen)})`,
  clearFilters: "Clear filters",
  mine: "Owned by me",
  notReadyMine: "Not ready, mine",
  showAll: "Show all entities",
  showAllHint: "Also show the APIs, definitions, Compositions and update forms that belong to a product",
  total: (total: number) => count(total, "entity", "entities"),
  loading: "Loading catalog",
  loadFailed: "Cannot load the catalog",
  outdated: "This data may be out of date",
  countsFailed: "Filter counts are unavailable right now. Selected filters still apply.",
  noResults: "No results",
  noResultsHint: "Search for the beginning of a word, or clear the filters.",
  noResultsFolded: "Search for the beginning of a word, clear the filters, or search all entities: APIs and definitions are part of their product.",
  empty: "The catalog is empty",
  emptyHint: "Sources are read in the background. New entities appear here by themselves.",
  table: "Entities",
  columns: { name: "Name", kind: "Kind", type: "Type", status: "Status", owner: "Owner", system: "System", tags: "Tags", cluster: "Cluster" },
  stale: "stale",
  since: (time: string) => `since ${time}`,
  lastKnown: (value: string) => `last known: ${value}`,
  parts: (title: string) => `Parts of ${title}`,
  form: "Create",
  api: "API",
  apiVersion: (version: string) => `API ${version}`,
  definition: "Definition",
};

const create = {};

const entity = {};

const ingestion = {};

const playground = {};

export const en = { app, api, components, settings, home, search, catalog, create, entity, ingestion, playground };
