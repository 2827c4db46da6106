import { useCallback } from "react";
import { useSearchParams } from "react-router";

// Values of parameters to set; undefined removes one.
export type Values = Record<string, string | string[] | undefined>;

// useAddress returns the query parameters of the URL and a function that sets some of them. The page does not scroll.
export function useAddress(): [URLSearchParams, (values: Values) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (values: Values) =>
      setParams(
        (now) => {
          for (const [name, value] of Object.entries(values)) {
            now.delete(name);
            [value ?? []].flat().forEach((one) => now.append(name, one));
          }
          return now;
        },
        { replace: true, preventScrollReset: true },
      ),
    [setParams],
  );
  return [params, set];
}
