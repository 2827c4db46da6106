const syntax = new Set("^$\\.*+?()[]{}|/");

// unicodePattern returns a pattern as the validator runs it, with the flag u. Patterns of definitions are often written for
// engines that are less strict about what is escaped. Undefined is one that no browser runs: the portal checks it then.
export function unicodePattern(pattern: string): string | undefined {
  for (const candidate of [pattern, strict(pattern)]) {
    try {
      new RegExp(candidate, "u");
      return candidate;
    } catch {
      // The next may do.
    }
  }
  return undefined;
}

// strict takes escapes away that mean nothing, and adds those that are missing.
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
