import type { TaskEvent } from "../../api/types";
import { texts } from "../../text";

// Line is a line of the log.
export type Line = { id: number; step: string; text: string; at: string };

// StepState is the status of a step with its start and end.
export type StepState = { status: string; from?: number; to?: number };

// Limits of the log in memory: a task may log 64 MiB.
const mostLines = 20_000;
const mostCharacters = 4 << 20;
// longest is the maximum length of a shown line.
const longest = 4_000;

export type Output = Record<string, unknown>;

// TaskLog collects the events of a task: the last lines of the log, the status of each step and the output. It notifies
// listeners a few times a second at most.
export class TaskLog {
  lines: Line[] = [];
  // dropped is the number of lines dropped from the start.
  dropped = 0;
  last = 0;
  output?: Output;
  error?: string;
  // hint is the hint of the failed step.
  hint?: string;
  version = 0;
  readonly steps = new Map<string, StepState>();
  private characters = 0;
  // failing is the step that has just failed.
  private failing?: string;
  private listeners = new Set<() => void>();
  private timer?: ReturnType<typeof setTimeout>;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.version;

  add(events: TaskEvent[]): void {
    for (const e of events) {
      // A resumed stream may repeat events.
      if (e.id <= this.last) {
        continue;
      }
      this.last = e.id;
      this.note(e);
      this.write(e);
    }
    this.trim();
    this.tell();
  }

  private note(e: TaskEvent): void {
    const { stepId, status, output, error } = e.body;
    const at = Date.parse(e.createdAt);
    if (stepId && status) {
      const now = this.steps.get(stepId) ?? { status: "" };
      this.steps.set(stepId, status === "processing" ? { status, from: at } : { ...now, status, to: at });
    }
    // The message after a failure is a hint.
    if (stepId && !status && stepId === this.failing) {
      this.hint = e.body.message;
    }
    if (status) {
      this.failing = status === "failed" ? stepId : undefined;
      this.hint = status === "processing" ? undefined : this.hint;
    }
    if (e.type === "completion") {
      this.output = output as Output | undefined;
      this.error = error?.message;
    }
    if (e.type === "recovered") {
      this.output = undefined;
      this.error = undefined;
    }
    if (e.type === "cancelled" || e.type === "completion") {
      // Running steps end with the task.
      for (const [id, s] of this.steps) {
        if (s.status === "processing") {
          this.steps.set(id, { ...s, status: e.type === "cancelled" ? "cancelled" : "failed", to: at });
        }
      }
    }
  }

  private write(e: TaskEvent): void {
    for (const text of e.body.message.split("\n")) {
      const cut = text.length > longest ? `${text.slice(0, longest)} ${texts.create.task.cut(text.length - longest)}` : text;
      this.lines.push({ id: e.id, step: e.body.stepId ?? "", text: cut, at: e.createdAt });
      this.characters += cut.length;
    }
  }

  private trim(): void {
    let gone = 0;
    while (this.lines.length - gone > mostLines || (this.characters > mostCharacters && this.lines.length - gone > 1)) {
      this.characters -= this.lines[gone]!.text.length;
      gone++;
    }
    if (gone > 0) {
      this.lines = this.lines.slice(gone);
      this.dropped += gone;
    }
  }

  private tell(): void {
    this.timer ??= setTimeout(() => this.flush(), 80);
  }

  // flush notifies listeners at once.
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.version++;
    this.listeners.forEach((l) => l());
  }
}
