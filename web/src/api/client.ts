import { token, renewToken } from "./token";

// ApiError is an answer that is not what was asked for. Its message is for people.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    override readonly name: string,
    message: string,
    // body is the whole answer, for those that say more than a message.
    readonly body?: unknown,
  ) {
    super(message);
  }
}

// Asking is what a request has besides its path.
export type Asking = {
  method?: string;
  // json is sent as the body.
  json?: unknown;
  // text is sent as the body as it is, with its type.
  text?: { body: string; type: string };
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

// ask asks the portal and returns the JSON of its answer, or undefined if it has none.
export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  const answer = await askRaw(path, { ...asking, headers: { Accept: "application/json", ...asking.headers } });
  if (answer.status === 204) {
    return undefined as T;
  }
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

// askRaw asks the portal and returns its answer as it comes: for streams, texts and headers. An answer that is an error
// is thrown. A token that is no longer good is renewed once, and the question asked again.
export async function askRaw(path: string, asking: Asking = {}): Promise<Response> {
  const used = await token();
  let answer = await send(path, asking, used);
  if (await expired(answer)) {
    const next = await renewToken(used);
    if (next !== undefined) {
      answer = await send(path, asking, next);
    }
  }
  if (!answer.ok) {
    throw await errorOf(answer);
  }
  return answer;
}

async function send(path: string, asking: Asking, bearer: string | undefined): Promise<Response> {
  const headers: Record<string, string> = { ...asking.headers };
  if (bearer !== undefined) {
    headers["Authorization"] = `Bearer ${bearer}`;
  }
  let body: string | undefined;
  if (asking.json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(asking.json);
  } else if (asking.text !== undefined) {
    headers["Content-Type"] = asking.text.type;
    body = asking.text.body;
  }
  const method = asking.method ?? (body === undefined ? "GET" : "POST");
  try {
    return await fetch(path, { method, headers, body, signal: asking.signal, credentials: "same-origin" });
  } catch (err) {
    if (asking.signal?.aborted) {
      throw err;
    }
    throw new ApiError(0, "Unreachable", "The portal does not answer. Check that it runs and that you are online, then try again.");
  }
}

// expired says whether an answer means that the token is no longer good.
async function expired(answer: Response): Promise<boolean> {
  if (answer.status === 401) {
    return true;
  }
  if (answer.status !== 403) {
    return false;
  }
  const error = await errorOf(answer.clone());
  return error.name === "AuthenticationError";
}

// errorOf reads the error of an answer.
export async function errorOf(answer: Response): Promise<ApiError> {
  let body: unknown;
  try {
    body = await answer.json();
  } catch {
    // Something in between answered, not the portal.
    return new ApiError(answer.status, "Error", `The portal answered ${answer.status}. Try again in a moment.`);
  }
  const said = (body as { error?: { name?: unknown; message?: unknown } } | null)?.error;
  const name = typeof said?.name === "string" ? said.name : "Error";
  const message = typeof said?.message === "string" ? said.message : `The portal answered ${answer.status}.`;
  return new ApiError(answer.status, name, message, body);
}

// withQuery adds parameters to a path. Lists are repeated; what is undefined or empty is left out.
export function withQuery(path: string, params: Record<string, string | number | boolean | string[] | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined || value === "") {
      continue;
    }
    for (const one of Array.isArray(value) ? value : [value]) {
      search.append(key, String(one));
    }
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

// path joins parts to a path, each one escaped.
export function path(base: string, ...parts: string[]): string {
  return [base, ...parts.map(encodeURIComponent)].join("/");
}
