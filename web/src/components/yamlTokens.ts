// TokenKind is what a part of a text is: keyword is true, false and null.
export type TokenKind = "key" | "string" | "number" | "keyword" | "comment";

export type Token = { kind: TokenKind; start: number; end: number };

const quoted = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'/y;
// A plain key at the beginning of a line, up to a colon that ends it.
const plainKey = /[^\s#"'[\]{},&*!|>%@`-][^\n]*?(?=[ \t]*:(?:\s|$))|-[^\s][^\n]*?(?=[ \t]*:(?:\s|$))/y;
const colon = /[ \t]*:(?=\s|$)/y;
const colonInFlow = /\s*:/y;
const number = /^[-+]?(?:\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+|0x[0-9a-f]+|0o[0-7]+|\.inf)$|^\.nan$/i;
const keyword = /^(?:true|false|null|~)$/i;
const block = /[|>][-+0-9]*[ \t]*(?:#[^\n]*)?(?=\n|$)/y;

// at returns the end of a match at a position, or -1.
function at(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

// yamlTokens returns the keys, values and comments of YAML or JSON, at most a number of them. It reads line by line and does
// not check the text: what it does not recognize has no token.
export function yamlTokens(text: string, most: number): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  while (start < text.length && tokens.length < most) {
    const line = lineEnd(text, start);
    let pos = skip(text, start, line);
    let indent = pos - start;
    // The items of a list may begin on one line: "- - a".
    while (text[pos] === "-" && (pos + 1 === line || text[pos + 1] === " ")) {
      indent = pos - start;
      pos = skip(text, pos + 1, line);
    }
    if (pos < line && text.startsWith("---", start) && line === start + 3) {
      pos = line;
    }
    const end = keyAt(text, pos, tokens);
    if (end >= 0) {
      indent = pos - start;
      pos = skip(text, end, line);
    }
    const header = at(block, text, pos);
    if (header >= 0) {
      start = blockScalar(text, line + 1, indent, tokens);
      continue;
    }
    values(text, pos, line, tokens);
    start = line + 1;
  }
  return tokens.slice(0, most);
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function skip(text: string, from: number, to: number): number {
  let pos = from;
  while (pos < to && (text[pos] === " " || text[pos] === "\t")) {
    pos++;
  }
  return pos;
}

// keyAt adds the key at a position and returns the end of its colon, or -1 if there is none.
function keyAt(text: string, pos: number, tokens: Token[]): number {
  const string = at(quoted, text, pos);
  const end = string >= 0 ? string : at(plainKey, text, pos);
  const after = end < 0 ? -1 : at(colon, text, end);
  // A comment after a value may have a colon.
  if (after < 0 || (string < 0 && /\s#/.test(text.slice(pos, end)))) {
    return -1;
  }
  tokens.push({ kind: "key", start: pos, end });
  return after;
}

// blockScalar adds the lines that are indented more than their key, and returns the start of the next line.
function blockScalar(text: string, from: number, indent: number, tokens: Token[]): number {
  let [start, end] = [from, from];
  while (start < text.length) {
    const line = lineEnd(text, start);
    const first = skip(text, start, line);
    if (first < line && first - start <= indent) {
      break;
    }
    end = first < line ? line : end;
    start = line + 1;
  }
  if (end > from) {
    tokens.push({ kind: "string", start: from, end });
  }
  return start;
}

// values adds the scalars, the keys in braces and the comment of the rest of a line.
function values(text: string, from: number, line: number, tokens: Token[]) {
  let pos = from;
  const flow = text[from] === "{" || text[from] === "[" || text[from] === "]" || text[from] === "}";
  while (pos < line) {
    const c = text[pos]!;
    if (c === " " || c === "\t" || c === "," || (flow && "{}[]:".includes(c))) {
      pos++;
    } else if (c === "#") {
      tokens.push({ kind: "comment", start: pos, end: line });
      return;
    } else {
      pos = scalar(text, pos, line, flow, tokens);
    }
  }
}

// scalar adds a quoted or plain value and returns its end.
function scalar(text: string, pos: number, line: number, flow: boolean, tokens: Token[]): number {
  const string = at(quoted, text, pos);
  if (string >= 0) {
    tokens.push({ kind: flow && at(colonInFlow, text, string) >= 0 ? "key" : "string", start: pos, end: string });
    return string;
  }
  let end = pos + 1;
  while (end < line && !(text[end] === "#" && text[end - 1] === " ") && !(flow && ",]}".includes(text[end]!)) && !(flow && text[end] === ":" && text[end + 1] === " ")) {
    end++;
  }
  const key = flow && text[end] === ":";
  const value = text.slice(pos, end).trimEnd();
  // JSON ends its values with commas.
  const bare = value.endsWith(",") ? value.slice(0, -1) : value;
  const kind = key ? "key" : number.test(bare) ? "number" : keyword.test(bare) ? "keyword" : "&*!".includes(value[0]!) ? undefined : "string";
  if (kind) {
    tokens.push({ kind, start: pos, end: pos + (kind === "number" || kind === "keyword" ? bare.length : value.length) });
  }
  return end;
}
