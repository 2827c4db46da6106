// Frame is a server-sent event with its JSON data.
export type Frame = { event: string; data: unknown };

// Frames parses a stream of server-sent events from chunks of any size.
export class Frames {
  private rest = "";

  // add takes a chunk and returns the events that it completes.
  add(piece: string): Frame[] {
    const parts = (this.rest + piece).split(/\r?\n\r?\n/);
    this.rest = parts.pop() ?? "";
    return parts.flatMap((frame) => {
      const lines = frame.split(/\r?\n/);
      const data = valuesOf(lines, "data").join("\n");
      if (data === "") {
        return [];
      }
      try {
        return [{ event: valuesOf(lines, "event").at(-1) ?? "message", data: JSON.parse(data) as unknown }];
      } catch {
        return [];
      }
    });
  }
}

function valuesOf(lines: string[], field: string): string[] {
  return lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).trimStart());
}

// readFrames passes the events of a response on until it ends.
export async function readFrames(answer: Response, onFrames: (frames: Frame[]) => void): Promise<void> {
  const frames = new Frames();
  await readPieces(answer, (piece) => {
    const found = frames.add(piece);
    if (found.length > 0) {
      onFrames(found);
    }
  });
}

// readLines passes the lines of a response on until it ends, each of them parsed as JSON.
export async function readLines(answer: Response, onLine: (line: unknown) => void): Promise<void> {
  let rest = "";
  await readPieces(answer, (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    lines.filter((line) => line.trim() !== "").forEach((line) => onLine(JSON.parse(line)));
  });
}

async function readPieces(answer: Response, onPiece: (piece: string) => void): Promise<void> {
  const reader = answer.body?.getReader();
  if (!reader) {
    return;
  }
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      onPiece(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Cancel the reader so that the server stops sending.
    reader.cancel().catch(() => undefined);
  }
}

// pause waits until the time is over or the signal aborts.
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
