// The URL schemes that links may use. Browsers run javascript: URLs and show data: URLs as pages.
const allowed = new Set(["http:", "https:", "mailto:"]);

// safeHref returns an untrusted URL if a link may use it, otherwise undefined. It parses as browsers do, which ignore
// leading spaces, control characters and line breaks. With relative, a relative URL leads into the portal.
export function safeHref(url: unknown, { relative = false }: { relative?: boolean } = {}): string | undefined {
  if (typeof url !== "string" || url.trim() === "") {
    return undefined;
  }
  try {
    const parsed = relative ? new URL(url, window.location.origin) : new URL(url);
    return allowed.has(parsed.protocol) ? parsed.href : undefined;
  } catch {
    return undefined;
  }
}
