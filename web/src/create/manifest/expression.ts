// The part of the expression language of Templates that generated Templates use: parameters, literals, objects, lists,
// comparisons, and, or, not, and a if b else c. The server implements all of it; this is for the preview while typing.

// Unsupported is thrown for an expression that only the server can evaluate.
export class Unsupported extends Error {}

type Scope = Record<string, unknown>;

const token = /\s*(?:(?<word>[A-Za-z_]\w*)|(?<number>\d+(?:\.\d+)?)|(?<text>"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|(?<mark>[=!]==?|[{}[\](),:.]))/y;

type Token = { kind: "word" | "number" | "text" | "mark" | "end"; text: string };

function scan(source: string): Token[] {
  const out: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < source.trimEnd().length) {
    const found = token.exec(source);
    const groups = found?.groups ?? {};
    const kind = (["word", "number", "text", "mark"] as const).find((k) => groups[k] !== undefined);
    if (!found || !kind) {
      throw new Unsupported(source);
    }
    out.push({ kind, text: groups[kind]! });
  }
  return [...out, { kind: "end", text: "" }];
}

const constants = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["none", null],
  ["null", null],
  ["undefined", undefined],
]);

const keywords = new Set(["if", "else", "and", "or", "not", "in", "is"]);

// evaluate returns the value of an expression.
export function evaluate(source: string, scope: Scope): unknown {
  return new Evaluator(source, scope).all();
}

class Evaluator {
  private readonly tokens: Token[];
  private at = 0;

  constructor(
    private readonly source: string,
    private readonly scope: Scope,
  ) {
    this.tokens = scan(source);
  }

  all(): unknown {
    const value = this.condition();
    if (this.now().kind !== "end") {
      throw new Unsupported(this.source);
    }
    return value;
  }

  private now(): Token {
    return this.tokens[this.at]!;
  }

  private take(text: string): boolean {
    const found = this.now().kind !== "text" && this.now().text === text;
    this.at += found ? 1 : 0;
    return found;
  }

  private expect(text: string): void {
    if (!this.take(text)) {
      throw new Unsupported(this.source);
    }
  }

  // condition is a if b else c. Both sides are evaluated: expressions have no effects.
  private condition(): unknown {
    const value = this.or();
    if (!this.take("if")) {
      return value;
    }
    const holds = this.or();
    const other = this.take("else") ? this.condition() : undefined;
    return holds ? value : other;
  }

  private or(): unknown {
    let value = this.and();
    while (this.take("or")) {
      const next = this.and();
      value = value || next;
    }
    return value;
  }

  private and(): unknown {
    let value = this.compared();
    while (this.take("and")) {
      const next = this.compared();
      value = value && next;
    }
    return value;
  }

  private compared(): unknown {
    const value = this.unary();
    for (const [mark, want] of [
      ["==", true],
      ["===", true],
      ["!=", false],
      ["!==", false],
    ] as const) {
      if (this.take(mark)) {
        return (value === this.unary()) === want;
      }
    }
    return value;
  }

  private unary(): unknown {
    return this.take("not") ? !this.unary() : this.postfix();
  }

  private postfix(): unknown {
    let value = this.primary();
    for (;;) {
      if (this.take(".")) {
        const { kind, text } = this.tokens[this.at++]!;
        if (kind !== "word") {
          throw new Unsupported(this.source);
        }
        value = member(value, text);
      } else if (this.take("[")) {
        const key = this.condition();
        this.expect("]");
        value = member(value, String(key));
      } else {
        return value;
      }
    }
  }

  private primary(): unknown {
    const { kind, text } = this.tokens[this.at++]!;
    if (kind === "number") {
      return Number(text);
    }
    if (kind === "text") {
      return unquoted(text);
    }
    if (kind === "word") {
      return this.named(text);
    }
    if (text === "(") {
      const value = this.condition();
      this.expect(")");
      return value;
    }
    if (text === "[") {
      return this.list();
    }
    if (text === "{") {
      return this.object();
    }
    throw new Unsupported(this.source);
  }

  private named(name: string): unknown {
    if (constants.has(name)) {
      return constants.get(name);
    }
    if (keywords.has(name) || !Object.hasOwn(this.scope, name)) {
      throw new Unsupported(this.source);
    }
    return this.scope[name];
  }

  private list(): unknown[] {
    const out: unknown[] = [];
    while (!this.take("]")) {
      out.push(this.condition());
      if (!this.take(",")) {
        this.expect("]");
        break;
      }
    }
    return out;
  }

  private object(): Record<string, unknown> {
    const out: [string, unknown][] = [];
    while (!this.take("}")) {
      const { kind, text } = this.tokens[this.at++]!;
      if (kind !== "text" && kind !== "word") {
        throw new Unsupported(this.source);
      }
      this.expect(":");
      out.push([kind === "text" ? unquoted(text) : text, this.condition()]);
      if (!this.take(",")) {
        this.expect("}");
        break;
      }
    }
    return Object.fromEntries(out);
  }
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\([^])/g, (_, c: string) => (Object.hasOwn(escapes, c) ? escapes[c]! : c));
}
