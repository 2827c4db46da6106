import { fetchApiRef, useApi } from '@backstage/frontend-plugin-api';
import { useCallback, useEffect, useRef, useState } from 'react';

/** Why a request to the backend of the plugin failed. */
export class RequestError extends Error {
  constructor(
    /** The status of the response; 0 if there was none. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const missingBackend = 'This Backstage has no backend for this page. Ask its administrator to install @ingestor/backstage-backend.';

/** useRead returns a function that reads a path of /api/ingestor as the user. */
export function useRead(): <T>(path: string, signal?: AbortSignal) => Promise<T> {
  const { fetch } = useApi(fetchApiRef);
  return useCallback(
    async <T>(path: string, signal?: AbortSignal) => {
      let response: Response;
      try {
        response = await fetch(`plugin://ingestor${path}`, { signal: signal ?? null });
      } catch (error) {
        throw new RequestError(0, `Backstage does not answer: ${error instanceof Error ? error.message : String(error)}`);
      }
      // Responses of the plugin are JSON, also its errors. That of a backend without the plugin is not.
      const body = (await response.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
      if (response.ok && body !== undefined) {
        return body as T;
      }
      throw new RequestError(response.status, response.status === 404 && !body?.error ? missingBackend : (body?.error?.message ?? `Backstage returned ${response.status} ${response.statusText}`));
    },
    [fetch],
  );
}

/** What a path returned last. */
export interface Polled<T> {
  data?: T;
  /** Why the last request failed; data is that of an earlier one then. */
  error?: RequestError;
  /** When data was read. */
  readAt?: Date;
}

/** usePolled reads a path now and after each interval, in milliseconds, while the page is visible. */
export function usePolled<T>(path: string, interval: (data: T | undefined) => number): Polled<T> {
  const read = useRead();
  const [polled, setPolled] = useState<Polled<T>>({});
  const pause = useRef(interval);
  pause.current = interval;
  useEffect(() => {
    const ended = new AbortController();
    let timer: number | undefined;
    let reading = false;
    const poll = async () => {
      if (document.hidden || reading) {
        return;
      }
      window.clearTimeout(timer);
      reading = true;
      try {
        const data = await read<T>(path, ended.signal);
        if (!ended.signal.aborted) {
          setPolled({ data, readAt: new Date() });
          timer = window.setTimeout(() => void poll(), pause.current(data));
        }
      } catch (error) {
        if (!ended.signal.aborted) {
          setPolled((old) => ({ ...old, error: error as RequestError }));
          timer = window.setTimeout(() => void poll(), pause.current(undefined));
        }
      }
      reading = false;
    };
    const onVisible = () => void poll();
    setPolled({});
    void poll();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      ended.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [read, path]);
  return polled;
}
