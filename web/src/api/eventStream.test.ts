import { expect, test } from "vitest";
import { Frames, readLines, type Frame } from "./eventStream";

test("Frames parses chunks of any size", () => {
  const text = ': ping\n\nevent: log\ndata: {"a":"x\\ny"}\n\ndata: {"b":1}\r\n\r\nevent: bad\ndata: {\n\n';
  for (const size of [1, 7, text.length]) {
    const frames = new Frames();
    const found: Frame[] = [];
    for (let i = 0; i < text.length; i += size) {
      found.push(...frames.add(text.slice(i, i + size)));
    }
    expect(found).toEqual([
      { event: "log", data: { a: "x\ny" } },
      { event: "message", data: { b: 1 } },
    ]);
  }
});

test("readLines parses lines of chunks of any size", async () => {
  const text = '{"checked":1}\n\n{"result":{"a":"ü"}}\n{"cut';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) {
    const body = new ReadableStream<Uint8Array>({
      start(to) {
        for (let i = 0; i < bytes.length; i += size) {
          to.enqueue(bytes.slice(i, i + size));
        }
        to.close();
      },
    });
    const found: unknown[] = [];
    await readLines({ body } as Response, (line) => found.push(line));
    expect(found).toEqual([{ checked: 1 }, { result: { a: "ü" } }]);
  }
});
