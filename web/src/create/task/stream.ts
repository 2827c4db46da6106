import { ApiError, fetchJson, fetchRaw, withQuery } from "../../api/client";
import type { Task, TaskEvent } from "../../api/types";
import { isOver, taskPath } from "../queries";

// Frames parses a stream of server-sent events from chunks of any size.
export class Frames {
  private rest = "";

  // add takes a chunk and returns the events that it completes.
  add(piece: string): TaskEvent[] {
    const parts = (this.rest + piece).split(/\r?\n\r?\n/);
    this.rest = parts.pop() ?? "";
    return parts.flatMap((frame) => {
      const data = frame
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data === "") {
        return [];
      }
      try {
        return [JSON.parse(data) as TaskEvent];
      } catch {
        return [];
      }
    });
  }
}

// Following is the subscriber of a task's events.
export type Following = {
  signal: AbortSignal;
  // after returns the id of the last known event.
  after: () => number;
  onEvents: (events: TaskEvent[]) => void;
  // onLost reports that the portal is unreachable; undefined means that it is reachable again.
  onLost: (why: unknown) => void;
};

// pause waits until the time is over or the signal aborts.
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

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
  const reader = answer.body?.getReader();
  if (!reader) {
    return;
  }
  const decoder = new TextDecoder();
  const frames = new Frames();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      const events = frames.add(decoder.decode(value, { stream: true }));
      if (events.length > 0) {
        f.onEvents(events);
      }
    }
  } finally {
    // Cancel the reader so that the server stops sending.
    reader.cancel().catch(() => undefined);
  }
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
