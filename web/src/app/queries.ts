import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client";

// again says whether to ask once more: what was refused is refused again, what did not answer may answer.
function again(count: number, err: unknown): boolean {
  if (err instanceof ApiError && err.status >= 400 && err.status < 500 && err.status !== 429) {
    return false;
  }
  return count < 2;
}

export function makeQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: again, staleTime: 15_000, gcTime: 5 * 60_000, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  });
}
