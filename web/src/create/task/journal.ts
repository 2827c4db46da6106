import type { TaskEvent } from "../../api/types";

// Line is a line of the log.
export type Line = { id: number; step: string; text: string; at: string };

// StepState is how a step stands.
export type StepState = { status: string; from?: number; to?: number };

// The most that is kept of a log: a task may say 64 MiB, and a tab has to live with it.
const mostLines = 20_000;
const mostCharacters = 4 << 20;
// longest is how much of one line is shown.
const longest = 4_000;

export type Output = Record<string, unknown>;

// Journal is what happened in a task, as far as it is shown: the last lines of the log, the state of each step, and what came
// of it. Who shows it is told when it has changed, a few times a second at most.
export class Journal {
  lines: Line[] = [];
  // dropped is how many lines of the beginning are no longer kept.
  dropped = 0;
  last = 0;
  output?: Output;
  error?: string;
  // hint is the way out that the step that failed knows.
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
      // A stream that was taken up again may tell something twice.
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
    // What a step says once it has failed is how to mend it.
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
      // What still ran has come to an end too.
      for (const [id, s] of this.steps) {
        if (s.status === "processing") {
          this.steps.set(id, { ...s, status: e.type === "cancelled" ? "cancelled" : "failed", to: at });
        }
      }
    }
  }

  private write(e: TaskEvent): void {
    for (const text of e.body.message.split("\n")) {
      const cut = text.length > longest ? `${text.slice(0, longest)} … (${(text.length - longest).toLocaleString("en")} more characters are in the whole log)` : text;
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

  // flush tells at once.
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.version++;
    this.listeners.forEach((l) => l());
  }
}
