import { texts } from "../text";

// A link to the playground holds the compressed text in the hash, which browsers do not send to the server.

// maxPackedLength is the maximum length of a link: chats and browsers truncate longer ones.
export const maxPackedLength = 50 * 1024;

// maxTextBytes is the maximum decompressed size, which is also the limit of the server: a short link may hold a very long
// text.
export const maxTextBytes = 1024 * 1024;

// TextTooLong is the error for a text that does not fit into a link.
export class TextTooLong extends Error {
  constructor() {
    super(texts.playground.linkTooLong);
  }
}

// pack compresses a text for a link.
export async function pack(text: string): Promise<string> {
  const packed = toBase64(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
  if (packed.length > maxPackedLength) {
    throw new TextTooLong();
  }
  return packed;
}

// unpack reverses pack. It throws on invalid input.
export async function unpack(packed: string): Promise<string> {
  if (packed.length > maxPackedLength) {
    throw new TextTooLong();
  }
  const bytes = await through(fromBase64(packed), new DecompressionStream("deflate-raw"), maxTextBytes);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

// hashOf returns the URL hash for a packed text; empty for no text.
export function hashOf(packed: string): string {
  return packed === "" ? "" : `#xrd=${packed}`;
}

// packedIn returns the packed text in a URL hash, or undefined.
export function packedIn(hash: string): string | undefined {
  return /^#xrd=([\w-]+)$/.exec(hash)?.[1];
}

async function through(
  from: Uint8Array<ArrayBuffer>,
  by: { readable: ReadableStream<Uint8Array<ArrayBuffer>>; writable: WritableStream<BufferSource> },
  most = Infinity,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const writer = by.writable.getWriter();
  // Errors in the data surface when reading.
  const ignore = () => undefined;
  writer.write(from).catch(ignore);
  writer.close().catch(ignore);
  const reader = by.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new TextTooLong();
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}
