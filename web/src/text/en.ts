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

const home = {};

const search = {};

const catalog = {};

const create = {
  cards: {
    lead: "Choose what to create.",
    tasks: "My tasks",
    readOnly: (reason: string) => `You can view forms, but you cannot run them. ${reason}`,
    search: "Search",
    searchHint: "Search by name, description, tag or API group",
    owner: "Owner",
    allOwners: "All owners",
    clearOwner: "Clear owner",
    showAll: "Show update and delete templates",
    loading: "Loading templates",
    failed: "Cannot load templates",
    categories: "Categories",
    all: "All",
    none: "No templates yet",
    noneHint: "Templates appear here when your platform team publishes them.",
    noneOperator: "The portal generates a template from each definition it ingests. See Ingestion for the status of its sources.",
    noResults: "No results",
    noResultsHint: "Try another search term, or clear the filters.",
    clear: "Clear filters",
    count: (cards: number) => count(cards, "template"),
    more: (left: number) => `Show more (${number(left)} left)`,
    clusters: (names: string[]) => `${names.length === 1 ? "Cluster" : "Clusters"} ${names.join(", ")}`,
    someClusters: (names: string[]) => (names.length <= 3 ? names.join(", ") : `${number(names.length)} clusters`),
    deprecated: "deprecated",
    deprecatedNote: "(deprecated)",
    unserved: (clusters: string[]) => `not served by ${clusters.join(", ")}`,
    versionsOf: (title: string) => `Versions of ${title}`,
    version: (title: string, version: string, deprecated: boolean) => `${title} ${version}${deprecated ? " (deprecated)" : ""}`,
  },
};

const entity = {};

const ingestion = {};

const playground = {};

export const en = { app, api, components, home, search, catalog, create, entity, ingestion, playground };
