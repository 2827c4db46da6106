import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client";

// shouldRetry reports whether to repeat a request: client errors are final, other failures may be temporary.
function shouldRetry(count: number, err: unknown): boolean {
  if (err instanceof ApiError && err.status >= 400 && err.status < 500 && err.status !== 429) {
    return false;
  }
  return count < 2;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: shouldRetry, staleTime: 15_000, gcTime: 5 * 60_000, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  });
}
