import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { fetchJson } from "../../api/client";
import type { Task } from "../../api/types";
import { isOver, taskPath } from "../queries";
import { TaskLog } from "./taskLog";
import { follow } from "./stream";

// useTask loads a task and follows its events.
export function useTask(id: string) {
  const queries = useQueryClient();
  const key = ["task", id];
  const task = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => fetchJson<Task>(taskPath(id), { signal }),
    refetchInterval: (q) => (q.state.data && isOver(q.state.data.status) ? false : 5_000),
  });
  const [log] = useState(() => new TaskLog());
  const version = useSyncExternalStore(log.subscribe, log.snapshot);
  const [lost, setLost] = useState<unknown>();
  const [failed, setFailed] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  // read tells whether the log is complete.
  const [read, setRead] = useState(false);

  useEffect(() => {
    const stop = new AbortController();
    setFailed(undefined);
    setRead(false);
    follow(id, { signal: stop.signal, after: () => log.last, onEvents: (events) => log.add(events), onLost: setLost })
      .then((over) => {
        if (over) {
          log.flush();
          setRead(true);
          queries.setQueryData(["task", id], over);
        }
      })
      .catch((err: unknown) => !stop.signal.aborted && setFailed(err));
    return () => stop.abort();
  }, [id, log, queries, turn]);

  // again follows a resumed task.
  const again = useCallback(() => {
    setTurn((n) => n + 1);
    void queries.invalidateQueries({ queryKey: ["task", id] });
  }, [queries, id]);

  return { task, log, version, lost, failed, read, again };
}
