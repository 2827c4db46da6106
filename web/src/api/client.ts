import { token, renewToken } from "./token";
import { isProxyError, noteContact } from "./connection";
import { texts } from "../text";

// ApiError is an error response. Its message is shown to users.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    override readonly name: string,
    message: string,
    // body is the whole response body, which may hold more than a message.
    readonly body?: unknown,
  ) {
    super(message);
  }
}

// RequestOptions are the options of a request besides its path.
export type RequestOptions = {
  method?: string;
  // json is sent as the JSON body.
  json?: unknown;
  // text is sent as the body, unchanged, with its content type.
  text?: { body: string; type: string };
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

// fetchJson sends a request and returns the JSON of the response, or undefined if the response has no body.
export async function fetchJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const answer = await fetchRaw(path, { ...options, headers: { Accept: "application/json", ...options.headers } });
  if (answer.status === 204) {
    return undefined as T;
  }
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

// fetchRaw sends a request and returns the response: for streams, text and headers. It throws an ApiError for an error
// response. If the token has expired, it renews the token once and sends the request again.
export async function fetchRaw(path: string, options: RequestOptions = {}): Promise<Response> {
  const used = await token();
  let answer = await send(path, options, used);
  if (await expired(answer)) {
    const next = await renewToken(used);
    if (next !== undefined) {
      answer = await send(path, options, next);
    }
  }
  if (!answer.ok) {
    throw await readError(answer);
  }
  return answer;
}

async function send(path: string, options: RequestOptions, bearer: string | undefined): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  if (bearer !== undefined) {
    headers["Authorization"] = `Bearer ${bearer}`;
  }
  let body: string | undefined;
  if (options.json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(options.json);
  } else if (options.text !== undefined) {
    headers["Content-Type"] = options.text.type;
    body = options.text.body;
  }
  const method = options.method ?? (body === undefined ? "GET" : "POST");
  try {
    const answer = await fetch(path, { method, headers, body, signal: options.signal, credentials: "same-origin" });
    noteContact(!isProxyError(answer));
    return answer;
  } catch (err) {
    if (options.signal?.aborted) {
      throw err;
    }
    noteContact(false);
    throw new ApiError(0, "Unreachable", texts.api.unreachable);
  }
}

// expired reports whether a response means that the token has expired.
async function expired(answer: Response): Promise<boolean> {
  if (answer.status === 401) {
    return true;
  }
  if (answer.status !== 403) {
    return false;
  }
  const error = await readError(answer.clone());
  return error.name === "AuthenticationError";
}

// readError reads the error of a response.
export async function readError(answer: Response): Promise<ApiError> {
  let body: unknown;
  try {
    body = await answer.json();
  } catch {
    // A proxy responded, not the portal.
    return new ApiError(answer.status, "Error", texts.api.statusRetry(answer.status));
  }
  const said = (body as { error?: { name?: unknown; message?: unknown } } | null)?.error;
  const name = typeof said?.name === "string" ? said.name : "Error";
  const message = typeof said?.message === "string" ? said.message : texts.api.status(answer.status);
  return new ApiError(answer.status, name, message, body);
}

// withQuery adds parameters to a path. Lists are repeated; undefined and empty values are left out.
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

// path joins escaped segments to a path.
export function path(base: string, ...parts: string[]): string {
  return [base, ...parts.map(encodeURIComponent)].join("/");
}
