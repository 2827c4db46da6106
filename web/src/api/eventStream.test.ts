import { expect, test } from "vitest";
import { Frames, type Frame } from "./eventStream";

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
