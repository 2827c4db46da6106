const syntax = new Set("^$\\.*+?()[]{}|/");

// unicodePattern returns a pattern for the validator, which uses the u flag. Patterns in definitions are often written for
// engines with laxer escaping. It returns undefined for a pattern that no browser supports; then only the server checks it.
export function unicodePattern(pattern: string): string | undefined {
  for (const candidate of [pattern, strict(pattern)]) {
    try {
      new RegExp(candidate, "u");
      return candidate;
    } catch {
      // Try the next candidate.
    }
  }
  return undefined;
}

// strict removes unnecessary escapes and adds missing ones.
function strict(pattern: string): string {
  let out = "";
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    if (c === "\\" && i + 1 < pattern.length) {
      const next = pattern[++i]!;
      const needed = /[A-Za-z0-9]/.test(next) || syntax.has(next) || (inClass && next === "-");
      out += needed ? c + next : next;
      continue;
    }
    if (c === "[" && inClass) {
      out += "\\[";
      continue;
    }
    if (c === "[") {
      inClass = true;
    } else if (c === "]") {
      out += inClass ? "]" : "\\]";
      inClass = false;
      continue;
    } else if (!inClass && c === "{" && !/^\{\d+(,\d*)?\}/.test(pattern.slice(i))) {
      out += "\\{";
      continue;
    } else if (!inClass && c === "}" && !/\{\d+(,\d*)?$/.test(out)) {
      out += "\\}";
      continue;
    }
    out += c;
  }
  return out;
}
