// A link to the playground has the text in it, packed, behind the #: that part of an address never leaves the browser.

// mostPacked is how long a link may be: chats and browsers cut longer ones.
export const mostPacked = 50 * 1024;

// mostText is the most that is unpacked, and the most the portal reads: a short link may stand for a very long text.
export const mostText = 1024 * 1024;

// TooLong is a text that does not fit into a link.
export class TooLong extends Error {
  constructor() {
    super("The text is too long for a link. Send the file instead.");
  }
}

// pack makes of a text what stands in a link.
export async function pack(text: string): Promise<string> {
  const packed = toBase64(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
  if (packed.length > mostPacked) {
    throw new TooLong();
  }
  return packed;
}

// unpack is the opposite of pack. What is no packed text is an error.
export async function unpack(packed: string): Promise<string> {
  if (packed.length > mostPacked) {
    throw new TooLong();
  }
  const bytes = await through(fromBase64(packed), new DecompressionStream("deflate-raw"), mostText);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

// hashOf is the part of the address for a packed text; no text, no hash.
export function hashOf(packed: string): string {
  return packed === "" ? "" : `#xrd=${packed}`;
}

// packedIn returns the packed text of an address's hash; undefined if it has none.
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
  // What is wrong with the bytes is told where they are read.
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
      throw new TooLong();
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
