// The schemes of addresses that a link may lead to. A browser runs what follows javascript:, and shows what follows data: as a
// page.
const allowed = new Set(["http:", "https:", "mailto:"]);

// safeHref returns an address from data as a link may have it, or undefined. It reads the address as browsers do, who skip
// spaces and control characters before it and line breaks inside. A relative one leads into the portal, where that is allowed.
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
