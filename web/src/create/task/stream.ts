import { ApiError, ask, askRaw, withQuery } from "../../api/client";
import type { Task, TaskEvent } from "../../api/types";
import { isOver, taskPath } from "../queries";

// Frames cuts a stream of server-sent events into events, however it comes in pieces.
export class Frames {
  private rest = "";

  // add takes a piece and returns the events that are complete with it.
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

// Following is who wants to know what happens in a task.
export type Following = {
  signal: AbortSignal;
  // after is the id of the last event that is known.
  after: () => number;
  onEvents: (events: TaskEvent[]) => void;
  // onLost says that the portal does not answer right now; undefined that it does again.
  onLost: (why: unknown) => void;
};

// pause waits, unless somebody has gone.
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

// follow reads the events of a task until it is over, and goes on where it was whenever the connection breaks. It returns the
// task as it is then, and throws what asking again does not mend.
export async function follow(id: string, f: Following): Promise<Task | undefined> {
  let wait = 500;
  while (!f.signal.aborted) {
    try {
      await readStream(id, f);
      const task = await ask<Task>(taskPath(id), { signal: f.signal });
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
  const answer = await askRaw(withQuery(`${taskPath(id)}/eventstream`, { after: f.after() || undefined }), { headers: { Accept: "text/event-stream" }, signal: f.signal });
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
    // Whoever goes reads no further: the portal need not send the rest.
    reader.cancel().catch(() => undefined);
  }
}

// wholeLog returns everything that was said in a task, as text.
export async function wholeLog(id: string, signal?: AbortSignal): Promise<Blob> {
  const pieces: string[] = [];
  let after = 0;
  for (;;) {
    const events = await ask<TaskEvent[]>(withQuery(`${taskPath(id)}/events`, { after: after || undefined }), { signal });
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
