import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/client";
import type { Task } from "../../api/types";
import { isOver, taskPath } from "../queries";
import { Journal } from "./journal";
import { follow } from "./stream";

// useTask follows a task: how it stands, and what happens in it.
export function useTask(id: string) {
  const queries = useQueryClient();
  const key = ["task", id];
  const task = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask<Task>(taskPath(id), { signal }),
    refetchInterval: (q) => (q.state.data && isOver(q.state.data.status) ? false : 5_000),
  });
  const [journal] = useState(() => new Journal());
  const version = useSyncExternalStore(journal.subscribe, journal.snapshot);
  const [lost, setLost] = useState<unknown>();
  const [failed, setFailed] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  // read says that all there is of the log is here.
  const [read, setRead] = useState(false);

  useEffect(() => {
    const stop = new AbortController();
    setFailed(undefined);
    setRead(false);
    follow(id, { signal: stop.signal, after: () => journal.last, onEvents: (events) => journal.add(events), onLost: setLost })
      .then((over) => {
        if (over) {
          journal.flush();
          setRead(true);
          queries.setQueryData(["task", id], over);
        }
      })
      .catch((err: unknown) => !stop.signal.aborted && setFailed(err));
    return () => stop.abort();
  }, [id, journal, queries, turn]);

  // again follows a task that goes on.
  const again = useCallback(() => {
    setTurn((n) => n + 1);
    void queries.invalidateQueries({ queryKey: ["task", id] });
  }, [queries, id]);

  return { task, journal, version, lost, failed, read, again };
}
