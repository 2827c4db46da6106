import { describe, expect, test, vi } from "vitest";
import type { Task, TaskEvent } from "../../api/types";
import { TaskLog } from "./taskLog";
import { follow } from "./stream";

function event(id: number, body: Partial<TaskEvent["body"]>, type: TaskEvent["type"] = "log"): TaskEvent {
  return { id, isTaskRecoverable: false, taskId: "t", type, createdAt: new Date(id * 1000).toISOString(), body: { message: "", ...body } };
}

const frame = (e: TaskEvent) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`;

describe("TaskLog", () => {
  test("tracks the status and duration of steps", () => {
    const j = new TaskLog();
    j.add([event(1, { stepId: "a", status: "processing", message: "x" }), event(3, { stepId: "a", status: "completed" }), event(4, { stepId: "b", status: "processing" })]);
    j.add([event(5, { message: "failed", error: { name: "E", message: "why" } }, "completion")]);
    expect(j.steps.get("a")).toEqual({ status: "completed", from: 1000, to: 3000 });
    expect(j.steps.get("b")?.status).toBe("failed");
    expect(j.error).toBe("why");
  });
  test("keeps the hint of a failed step until it runs again", () => {
    const j = new TaskLog();
    j.add([event(1, { stepId: "a", status: "processing" }), event(2, { stepId: "a", message: "said" }), event(3, { stepId: "a", status: "failed", message: "no namespace" }), event(4, { stepId: "a", message: "make one" })]);
    expect(j.hint).toBe("make one");
    j.add([event(5, { stepId: "b", status: "skipped" }), event(6, { error: { message: "no namespace" } }, "completion")]);
    expect(j.hint).toBe("make one");
    j.add([event(7, { message: "on it goes" }, "recovered"), event(8, { stepId: "a", status: "processing" })]);
    expect(j.hint).toBeUndefined();
  });
  test("ignores repeated events", () => {
    const j = new TaskLog();
    j.add([event(1, { message: "a" })]);
    j.add([event(1, { message: "a" }), event(2, { message: "b" })]);
    expect(j.lines.map((l) => l.text)).toEqual(["a", "b"]);
  });
  test("keeps only the end of a 50 MB log", () => {
    const j = new TaskLog();
    const text = "x".repeat(1000);
    for (let i = 0; i < 500; i++) {
      j.add(Array.from({ length: 100 }, (_, k) => event(i * 100 + k + 1, { message: `${i * 100 + k} ${text}` })));
    }
    expect(j.lines.reduce((sum, l) => sum + l.text.length, 0)).toBeLessThanOrEqual(4 << 20);
    expect(j.dropped + j.lines.length).toBe(50_000);
    expect(j.lines.at(-1)!.text.startsWith("49999 ")).toBe(true);
  });
});

test("follow resumes after the last event when the connection breaks", async () => {
  const asked: string[] = [];
  let status = "processing";
  vi.stubGlobal("fetch", (url: string) => {
    if (!url.includes("eventstream")) {
      return Promise.resolve(new Response(JSON.stringify({ id: "t", status } as Partial<Task>)));
    }
    asked.push(url);
    if (asked.length === 2) {
      return Promise.reject(new TypeError("gone"));
    }
    status = asked.length === 3 ? "completed" : status;
    return Promise.resolve(new Response(frame(event(asked.length, { message: "m" })), { headers: { "Content-Type": "text/event-stream" } }));
  });
  const j = new TaskLog();
  const lost: unknown[] = [];
  const over = await follow("t", { signal: new AbortController().signal, after: () => j.last, onEvents: (e) => j.add(e), onLost: (why) => lost.push(why) });
  expect(over?.status).toBe("completed");
  expect(asked.map((u) => u.split("?")[1])).toEqual([undefined, "after=1", "after=1"]);
  expect(lost.some((why) => why instanceof Error)).toBe(true);
  expect(j.lines).toHaveLength(2);
});
