import { ApiError, fetchJson, fetchRaw, withQuery } from "../../api/client";
import { pause, readFrames } from "../../api/eventStream";
import type { Task, TaskEvent } from "../../api/types";
import { isOver, taskPath } from "../queries";

// Following is the subscriber of a task's events.
export type Following = {
  signal: AbortSignal;
  // after returns the id of the last known event.
  after: () => number;
  onEvents: (events: TaskEvent[]) => void;
  // onLost reports that the portal is unreachable; undefined means that it is reachable again.
  onLost: (why: unknown) => void;
};

// follow reads the events of a task until the task has finished and resumes after a broken connection. It returns the
// finished task and throws errors that a retry cannot fix.
export async function follow(id: string, f: Following): Promise<Task | undefined> {
  let wait = 500;
  while (!f.signal.aborted) {
    try {
      await readStream(id, f);
      const task = await fetchJson<Task>(taskPath(id), { signal: f.signal });
      f.onLost(undefined);
      if (isOver(task.status)) {
        return task;
      }
      wait = 500;
    } catch (err) {
      if (f.signal.aborted) {
        return undefined;
      }
      if (err instanceof ApiError && err.status >= 400 && err.status < 500 && err.status !== 429) {
        throw err;
      }
      f.onLost(err);
      wait = Math.min(wait * 2, 10_000);
    }
    await pause(wait, f.signal);
  }
  return undefined;
}

async function readStream(id: string, f: Following): Promise<void> {
  const answer = await fetchRaw(withQuery(`${taskPath(id)}/eventstream`, { after: f.after() || undefined }), { headers: { Accept: "text/event-stream" }, signal: f.signal });
  f.onLost(undefined);
  await readFrames(answer, (frames) => f.onEvents(frames.map((frame) => frame.data as TaskEvent)));
}

// fetchFullLog returns the whole log of a task as text.
export async function fetchFullLog(id: string, signal?: AbortSignal): Promise<Blob> {
  const pieces: string[] = [];
  let after = 0;
  for (;;) {
    const events = await fetchJson<TaskEvent[]>(withQuery(`${taskPath(id)}/events`, { after: after || undefined }), { signal });
    for (const e of events) {
      pieces.push(`${e.createdAt} ${e.body.stepId ? `[${e.body.stepId}] ` : ""}${e.body.message}\n`);
      after = e.id;
    }
    const last = events.at(-1);
    if (!last || last.type === "completion" || last.type === "cancelled") {
      return new Blob(pieces, { type: "text/plain" });
    }
  }
}
