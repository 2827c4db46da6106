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

const create = {};

const entity = {
  notInCatalog: "(not in the catalog)",
};

const ingestion = {};

const playground = {};

export const en = { app, api, components, home, search, catalog, create, entity, ingestion, playground };
